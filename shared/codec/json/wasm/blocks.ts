// Text that both kernels are made of. Each looks at 64 bytes at a time, of which each becomes a bit of a word; see ends.ts.

export const not = (what: string) => `(i64.xor ${what} (i64.const -1))`

/** Adds a bit for each of the 16 bytes of a quarter that was compared. */
export const mask = (name: string, quarter: number, found: string) => {
  const bits = `(i64.extend_i32_u (i8x16.bitmask ${found}))`
  const moved =
    quarter === 0 ? bits : `(i64.or (local.get ${name}) (i64.shl ${bits} (i64.const ${16 * quarter})))`
  return `(local.set ${name} ${moved})`
}

export const equal = (bytes: string, byte: number) => `(i8x16.eq ${bytes} (i8x16.splat (i32.const ${byte})))`

export const BACKSLASH = 0x5c
export const QUOTE = 0x22

/**
 * From `$escapes`, the backslashes of a block, `$escaped`: the letters behind those that no other one escapes. `$begun` is
 * what the block before leaves behind. Adding 1 to a row of backslashes that begins at an even place and to one that begins
 * at an odd place carries out of it differently.
 */
export const ESCAPED = `
    (local.set $escaped (local.get $begun))
    (local.set $odd (i64.const 0))
    (if (i32.eqz (i64.eqz (local.get $escapes))) (then
      (local.set $odd (i64.and (local.get $escapes) ${not('(local.get $begun)')}))
      (local.set $odd (i64.xor (i64.const 0xaaaaaaaaaaaaaaaa)
        (i64.sub (i64.or (i64.shl (local.get $odd) (i64.const 1)) (i64.const 0xaaaaaaaaaaaaaaaa)) (local.get $odd))))
      (local.set $escaped (i64.xor (local.get $odd) (i64.or (local.get $escapes) (local.get $begun))))
      (local.set $odd (i64.and (local.get $odd) (local.get $escapes)))))
    (local.set $begun (i64.shr_u (local.get $odd) (i64.const 63)))`
