import type { ComponentChildren } from 'preact'

interface FactProps {
  readonly name: string
  readonly children: ComponentChildren
}

/** A name and what it stands for, within a `dl`. */
export const Fact = ({ name, children }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
