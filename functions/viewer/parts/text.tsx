import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { blocksOf, folded, piecesOf, plain } from '../data/text.ts'

/** Text of strangers in a line of its own direction; what could mislead an eye is named. */
export function Text({ text }: { readonly text: string }): JSX.Element {
  return <bdi>{shown(text)}</bdi>
}

/** The same of what may be very long: cut, and whole in the title. */
export function ShortText({
  text,
  max = 200,
}: {
  readonly text: string
  readonly max?: number
}): JSX.Element {
  const { text: cut, isCut } = folded(text.trim(), max, 1)
  return (
    <bdi title={isCut ? plain(folded(text, 2000).text) : undefined}>
      {shown(cut)}
      {isCut && '…'}
    </bdi>
  )
}

const SCROLLED_CHARS = 2000

interface LongTextProps {
  readonly text: string
  /** Shown before somebody asks for all. */
  readonly chars?: number
  readonly lines?: number
  readonly isCode?: boolean
}

/** A text of any length with its line ends, folded until somebody wants all of it. */
export function LongText({ text, chars = 1200, lines = 14, isCode = false }: LongTextProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const { text: start, isCut } = useMemo(() => folded(text, chars, lines), [text, chars, lines])
  const isTall = isOpen || chars > SCROLLED_CHARS // it scrolls by itself, also by keyboard
  return (
    <div class="long-text">
      <pre
        class={`text ${isCode ? 'code' : ''} ${isTall ? 'tall' : ''}`}
        dir={isCode ? 'ltr' : 'auto'}
        tabIndex={isTall ? 0 : undefined}
      >
        {isOpen ? blocksOf(text).map((block, n) => <Block key={n} text={block} />) : shown(start)}
        {isCut && !isOpen && '…'}
      </pre>
      {isCut && (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fold' : `Show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </div>
  )
}

/** Laid out only when it comes into sight. */
const Block = ({ text }: { readonly text: string }) => <span class="block">{shown(text)}</span>

const shown = (text: string) => {
  const pieces = piecesOf(text)
  if (pieces.length === 1 && typeof pieces[0] === 'string') return pieces[0]
  return pieces.map((piece, n) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      <span key={n} class="hidden-char" title="a character that cannot be seen">
        {piece.hidden}
      </span>
    ),
  )
}
