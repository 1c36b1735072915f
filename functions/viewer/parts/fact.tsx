import type { ComponentChildren } from 'preact'

interface FactProps {
  readonly name: string
  readonly children: ComponentChildren
  /** Left out on narrow screens. */
  readonly isMinor?: boolean
}

/** A name and what it stands for, within a `dl`. */
export const Fact = ({ name, children, isMinor = false }: FactProps) => (
  <div class={isMinor ? 'wide' : ''}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
