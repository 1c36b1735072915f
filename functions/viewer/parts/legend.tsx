import type { JSX } from 'preact'
import { ShortText } from './text.tsx'

interface LegendProps {
  /** From the bottom up; the place is the colour. */
  readonly names: readonly string[]
  readonly hasRest?: boolean
  readonly what: string
}

/** Which colour is which. */
export const Legend = ({ names, hasRest = false, what }: LegendProps): JSX.Element => (
  <p class="legend help">
    <span>{what}:</span>
    {names.map((name, place) => (
      <span key={name} class="legend-name">
        <span class={`swatch band-${place}`} />
        <ShortText text={name} max={30} />
      </span>
    ))}
    {hasRest && (
      <span class="legend-name">
        <span class="swatch band-rest" />
        others
      </span>
    )}
  </p>
)
