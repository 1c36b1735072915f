// The kernel that finds where the items of a list end. It looks at 64 bytes at a time, of which each becomes a bit of a word:
//
//   text        {"a":"x\"]","b":[1]}
//   escapes     .......^............     a backslash that no other one escapes
//   quotes      .^.^.^....^.^.^.....     those that are not escaped
//   inside      .##.######..##......     between quotes: the exclusive or of all quotes so far
//   brackets    ^..............^..^^     those outside
//
// so a block of plain text costs the same whatever marks are in it, and only brackets are looked at one by one.

/** A mask of 64 bits from four comparisons of 16 bytes. */
const MASKS = [
  ['$escapes', '(i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))'],
  ['$quotes', '(i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))'],
  // 0x26 are the bits in which { } [ ] differ. It makes Y y _ and 0x7f the same too, which no JSON has outside of strings.
  [
    '$brackets',
    '(i8x16.eq (v128.or (local.get $bytes) (i8x16.splat (i32.const 0x26))) (i8x16.splat (i32.const 0x7f)))',
  ],
] as const

const quarter = (n: number) => `
  (local.set $bytes (v128.load offset=${16 * n} (local.get $at)))
  ${MASKS.map(([name, found]) => {
    const mask = `(i64.extend_i32_u (i8x16.bitmask ${found}))`
    const moved = n === 0 ? mask : `(i64.or (local.get ${name}) (i64.shl ${mask} (i64.const ${16 * n})))`
    return `(local.set ${name} ${moved})`
  }).join('\n  ')}`

/** Bit n becomes the exclusive or of bits 0…n. */
const sums = (name: string) =>
  [1, 2, 4, 8, 16, 32]
    .map(
      (n) =>
        `(local.set ${name} (i64.xor (local.get ${name}) (i64.shl (local.get ${name}) (i64.const ${n}))))`,
    )
    .join('\n  ')

const not = (what: string) => `(i64.xor ${what} (i64.const -1))`

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

    ;; Escaped are the letters behind backslashes that stand at odd places of their row. Adding 1 to a row that begins at an
    ;; even place and to one at an odd place carries out of it differently; $begun is what the block before leaves behind.
    (local.set $escaped (local.get $begun))
    (local.set $odd (i64.const 0))
    (if (i32.eqz (i64.eqz (local.get $escapes))) (then
      (local.set $odd (i64.and (local.get $escapes) ${not('(local.get $begun)')}))
      (local.set $odd (i64.xor (i64.const 0xaaaaaaaaaaaaaaaa)
        (i64.sub (i64.or (i64.shl (local.get $odd) (i64.const 1)) (i64.const 0xaaaaaaaaaaaaaaaa)) (local.get $odd))))
      (local.set $escaped (i64.xor (local.get $odd) (i64.or (local.get $escapes) (local.get $begun))))
      (local.set $odd (i64.and (local.get $odd) (local.get $escapes)))))
    (local.set $begun (i64.shr_u (local.get $odd) (i64.const 63)))

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
