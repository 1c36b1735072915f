import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Told which word of the address is to have which value; empty takes it out. */
export type Change = (name: string, value: string) => void

const TYPING_MS = 300

interface TypedProps {
  readonly label: string
  readonly name: string
  readonly value: string | undefined
  readonly change: Change
  readonly hint?: string
}

/** A field that is asked for when typing pauses. */
export function Typed({ label, name, value = '', change, hint }: TypedProps): JSX.Element {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const newest = useRef(change)
  newest.current = change // another filter may be set while one types
  useEffect(() => setText(value), [value])
  const typed = (next: string) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => newest.current(name, next.trim()), TYPING_MS)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <label>
      {label}
      <input
        type="search"
        value={text}
        placeholder={hint}
        maxLength={1000}
        spellcheck={false}
        onInput={(event) => typed(event.currentTarget.value)}
      />
    </label>
  )
}
