import { useEffect } from 'preact/hooks'

/** Names the page in tabs and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · runfold`
  }, [title])
}
