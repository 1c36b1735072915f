import { BACKSLASH, ESCAPED, equal, mask, not, QUOTE } from './blocks.ts'

// The kernel that finds where the items of a list end.
//
//   text        {"a":"x\"]","b":[1]}
//   escapes     .......^............     a backslash that no other one escapes
//   quotes      .^.^.^....^.^.^.....     those that are not escaped
//   inside      .##.######..##......     between quotes: the exclusive or of all quotes so far
//   brackets    ^..............^..^^     those outside
//
// so a block of plain text costs the same whatever marks are in it, and only brackets are looked at one by one.

/**
 * 0x26 are the bits in which { } [ ] differ. It makes Y y _ and 0x7f the same too, which no JSON has outside of strings.
 */
const BRACKETS = equal('(v128.or (local.get $bytes) (i8x16.splat (i32.const 0x26)))', 0x7f)

const quarter = (n: number) => `
    (local.set $bytes (v128.load offset=${16 * n} (local.get $at)))
    ${mask('$escapes', n, equal('(local.get $bytes)', BACKSLASH))}
    ${mask('$quotes', n, equal('(local.get $bytes)', QUOTE))}
    ${mask('$brackets', n, BRACKETS)}`

/** Bit n becomes the exclusive or of bits 0…n. */
const sums = (name: string) =>
  [1, 2, 4, 8, 16, 32]
    .map((n) => `(i64.shl (local.get ${name}) (i64.const ${n}))`)
    .map((moved) => `(local.set ${name} (i64.xor (local.get ${name}) ${moved}))`)
    .join('\n    ')

/**
 * `ends(at, end, out)`: the list or object that opens at `at` and the bytes before `end`. At `out` it writes where each bracket
 * stands that closes an item of it, then where its own does, 32 bits each, and gives their number; 0 if it is not closed.
 * It reads up to 63 bytes from `end` on, which must be no brackets.
 */
export const ENDS = `
(func $ends (param $at i32) (param $end i32) (param $out i32) (result i32)
  (local $bytes v128) (local $escapes i64) (local $quotes i64) (local $brackets i64)
  (local $first i32) (local $odd i64) (local $escaped i64) (local $begun i64) (local $inside i64)
  (local $depth i32) (local $bracket i32) (local $opens i32)
  (local.set $first (local.get $out))
  (block $over (loop $blocks
    (br_if $over (i32.eqz (i32.lt_u (local.get $at) (local.get $end))))
    ${[0, 1, 2, 3].map(quarter).join('')}
    ${ESCAPED}
    (local.set $quotes (i64.and (local.get $quotes) ${not('(local.get $escaped)')}))
    ${sums('$quotes')}
    (local.set $quotes (i64.xor (local.get $quotes) (local.get $inside)))
    (local.set $inside (i64.shr_s (local.get $quotes) (i64.const 63)))
    (local.set $brackets (i64.and (local.get $brackets) ${not('(local.get $quotes)')}))

    (block $next (loop $bits
      (br_if $next (i64.eqz (local.get $brackets)))
      (local.set $bracket (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $brackets)))))
      (local.set $brackets (i64.and (local.get $brackets) (i64.sub (local.get $brackets) (i64.const 1))))
      ;; { and [ have the bit of 2, } and ] have not.
      (local.set $opens (i32.and (i32.load8_u (local.get $bracket)) (i32.const 2)))
      (local.set $depth (i32.sub (i32.add (local.get $depth) (local.get $opens)) (i32.const 1)))
      (br_if $bits (i32.or (local.get $opens) (i32.gt_u (local.get $depth) (i32.const 1))))
      (i32.store (local.get $out) (local.get $bracket))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (br_if $bits (local.get $depth))
      (return (i32.shr_u (i32.sub (local.get $out) (local.get $first)) (i32.const 2)))))

    (local.set $at (i32.add (local.get $at) (i32.const 64)))
    (br $blocks)))
  (i32.const 0))
`
