import { useEffect, useState } from 'preact/hooks'

const dark = matchMedia('(prefers-color-scheme: dark)')

type Colors = (variable: string) => string

/** The colours of the style sheet for what is drawn on a canvas; a new function whenever the reader's scheme changes. */
export function useColors(): Colors {
  const [colors, setColors] = useState<Colors>(readColors)
  useEffect(() => {
    const look = () => setColors(() => readColors())
    dark.addEventListener('change', look)
    return () => dark.removeEventListener('change', look)
  }, [])
  return colors
}

/** A variable holds both schemes' colours; only an element that uses it has one of them. */
function readColors(): Colors {
  const known = new Map<string, string>()
  return (variable) => {
    const color = known.get(variable)
    if (color !== undefined) return color
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = `var(${variable})`
    const read = getComputedStyle(probe).color
    probe.remove()
    known.set(variable, read)
    return read
  }
}

/** The variable of a band's colour; undefined for the regions that share one. */
export const bandColor = (place: number | undefined): string =>
  place === undefined ? '--band-rest' : `--band-${place}`
