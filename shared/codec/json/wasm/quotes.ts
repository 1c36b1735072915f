import { BACKSLASH, ESCAPED, equal, mask, not, QUOTE } from './blocks.ts'

// The kernel that checks the letters of a text, all of them at once, and notes where its strings begin and end.
//
// UTF-8 is checked as Keiser and Lemire do ("Validating UTF-8 in less than one instruction per byte", 2021): three tables say
// which errors the halves of a byte and of the one behind it allow; an error is what all three allow.

const TOO_SHORT = 1
const TOO_LONG = 2
const OVERLONG_3 = 4
const TOO_LARGE = 8
const SURROGATE = 16
const OVERLONG_2 = 32
/** Both of the fourth plane and more, by the byte behind. */
const TOO_LARGE_1000 = 64
const OVERLONG_4 = 64
const TWO_CONTINUATIONS = 128
/** What the low half of the first byte never rules out. */
const ANY = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS
const LARGE = ANY | TOO_LARGE | TOO_LARGE_1000
const CONTINUATION = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS

const table = (of: (half: number) => number) =>
  `(v128.const ${Array.from({ length: 16 }, (_, n) => of(n)).join(' ')})`

const FIRST_HIGH = table((half) => {
  if (half < 8) return TOO_LONG
  if (half < 12) return TWO_CONTINUATIONS
  const more = [OVERLONG_2, 0, OVERLONG_3 | SURROGATE, TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4]
  return TOO_SHORT | (more[half - 12] as number)
})
const FIRST_LOW = table((half) => {
  if (half === 0) return ANY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4
  if (half === 1) return ANY | OVERLONG_2
  if (half < 4) return ANY
  if (half === 4) return ANY | TOO_LARGE
  return half === 13 ? LARGE | SURROGATE : LARGE
})
const SECOND_HIGH = table((half) => {
  if (half < 8 || half > 11) return TOO_SHORT
  if (half === 8) return CONTINUATION | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4
  return CONTINUATION | (half === 9 ? OVERLONG_3 : SURROGATE) | TOO_LARGE
})

/** The letters of short escapes, by halves: a bit for each row of ASCII that has some. */
const ROWS: Readonly<Record<number, string>> = { 2: '"', 5: '\\', 6: 'bfn', 7: 'rt' }
const SHORT_HIGH = table((half) => (half in ROWS ? 1 << half : 0))
const SHORT_LOW = table((half) =>
  Object.entries(ROWS)
    .filter(([, letters]) => Array.from(letters).some((letter) => (letter.charCodeAt(0) & 15) === half))
    .reduce((bits, [row]) => bits | (1 << Number(row)), 0),
)

const high = (bytes: string) => `(i8x16.shr_u ${bytes} (i32.const 4))`
const low = (bytes: string) => `(v128.and ${bytes} (i8x16.splat (i32.const 15)))`
const splat = (byte: number) => `(i8x16.splat (i32.const ${byte}))`

/** The bytes that stand n places before those of `$bytes`. */
const before = (n: number) =>
  `(i8x16.shuffle ${Array.from({ length: 16 }, (_, i) => 16 - n + i).join(' ')} (local.get $last) (local.get $bytes))`

/** A byte that is the third or fourth of its letter: the only one that may be the second continuation. */
const LATER = `(v128.and ${splat(0x80)} (v128.or
        (i8x16.sub_sat_u ${before(2)} ${splat(0xe0 - 0x80)})
        (i8x16.sub_sat_u ${before(3)} ${splat(0xf0 - 0x80)})))`

const UTF8 = `
    (if (v128.any_true (v128.and (v128.or (local.get $last) (local.get $bytes)) ${splat(0x80)})) (then
      (local.set $first ${before(1)})
      (local.set $error (v128.or (local.get $error) (v128.xor ${LATER}
        (v128.and (i8x16.swizzle ${FIRST_HIGH} ${high('(local.get $first)')})
        (v128.and (i8x16.swizzle ${FIRST_LOW} ${low('(local.get $first)')})
                  (i8x16.swizzle ${SECOND_HIGH} ${high('(local.get $bytes)')}))))))))`

const quarter = (n: number) => `
    (local.set $bytes (v128.load offset=${16 * n} (local.get $at)))
    ${mask('$escapes', n, equal('(local.get $bytes)', BACKSLASH))}
    ${mask('$quotes', n, equal('(local.get $bytes)', QUOTE))}
    (local.set $error (v128.or (local.get $error) (i8x16.lt_u (local.get $bytes) ${splat(0x20)})))
    ${UTF8}
    (local.set $last (local.get $bytes))`

const quarterOfLetters = (n: number) => `
      (local.set $bytes (v128.load offset=${16 * n} (local.get $at)))
      ${mask(
        '$others',
        n,
        equal(
          `(v128.and (i8x16.swizzle ${SHORT_LOW} ${low('(local.get $bytes)')})
                 (i8x16.swizzle ${SHORT_HIGH} ${high('(local.get $bytes)')}))`,
          0,
        ),
      )}`

/** Digits that may follow `\u000` and `\u001`, a bit for each ASCII letter from `0` on: those without a short escape, lower case. */
const digits = (letters: string) =>
  Array.from(letters).reduce((bits, letter) => bits | (1n << BigInt(letter.charCodeAt(0) - 0x30)), 0n)
const BEHIND_000 = digits('01234567bef')
const BEHIND_001 = digits('0123456789abcdef')

/**
 * `quotes(end, out)`: of the text from 0 to `end` it writes at `out` where each quote stands that is not escaped, 32 bits
 * each, and gives their number; -1 if there are control characters, no UTF-8, or escapes that a writer would spell otherwise,
 * in strings or anywhere. It reads up to 63 bytes from `end` on, which must be blanks.
 */
export const QUOTES = `
(func $quotes (param $end i32) (param $out i32) (result i32)
  (local $bytes v128) (local $last v128) (local $first v128) (local $error v128)
  (local $at i32) (local $begin i32) (local $escapes i64) (local $quotes i64) (local $others i64)
  (local $odd i64) (local $escaped i64) (local $begun i64) (local $letter i32) (local $next i32) (local $allowed i64)
  (local.set $begin (local.get $out))
  (block $over (loop $blocks
    (br_if $over (i32.eqz (i32.lt_u (local.get $at) (local.get $end))))
    ${[0, 1, 2, 3].map(quarter).join('')}
    ${ESCAPED}
    (local.set $quotes (i64.and (local.get $quotes) ${not('(local.get $escaped)')}))

    (if (i32.eqz (i64.eqz (local.get $escaped))) (then
      ${[0, 1, 2, 3].map(quarterOfLetters).join('')}
      (local.set $others (i64.and (local.get $others) (local.get $escaped)))
      (block $checked (loop $letters
        (br_if $checked (i64.eqz (local.get $others)))
        (local.set $letter (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $others)))))
        (local.set $others (i64.and (local.get $others) (i64.sub (local.get $others) (i64.const 1))))
        (local.set $allowed (i64.const 0))
        (local.set $next (i32.load offset=1 (local.get $letter)))
        (if (i32.eq (i32.load8_u (local.get $letter)) (i32.const 0x75)) (then
          (if (i32.eq (i32.and (local.get $next) (i32.const 0xffffff)) (i32.const 0x303030))
            (then (local.set $allowed (i64.const ${BEHIND_000}))))
          (if (i32.eq (i32.and (local.get $next) (i32.const 0xffffff)) (i32.const 0x313030))
            (then (local.set $allowed (i64.const ${BEHIND_001}))))))
        (local.set $next (i32.sub (i32.shr_u (local.get $next) (i32.const 24)) (i32.const 0x30)))
        (if (i32.gt_u (local.get $next) (i32.const 63)) (then (return (i32.const -1))))
        (br_if $letters (i32.wrap_i64 (i64.and (i64.const 1)
          (i64.shr_u (local.get $allowed) (i64.extend_i32_u (local.get $next))))))
        (return (i32.const -1))))))

    (block $next_block (loop $bits
      (br_if $next_block (i64.eqz (local.get $quotes)))
      (i32.store (local.get $out) (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $quotes)))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $quotes (i64.and (local.get $quotes) (i64.sub (local.get $quotes) (i64.const 1))))
      (br $bits)))

    (local.set $at (i32.add (local.get $at) (i32.const 64)))
    (br $blocks)))
  (if (v128.any_true (local.get $error)) (then (return (i32.const -1))))
  (i32.shr_u (i32.sub (local.get $out) (local.get $begin)) (i32.const 2)))
`
