import { useEffect } from 'preact/hooks'
import { folded, plain } from '../data/text.ts'

/** Names the page in tabs and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${plain(folded(title, 80).text)} · runfold`
  }, [title])
}
