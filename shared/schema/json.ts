import * as z from 'zod'

/**
 * A JSON number that a JavaScript number would respell or round: anything written with a point or an exponent, and `-0`.
 * Integers are plain numbers up to 2^53 and bigints beyond, so every digit survives (LVR1.md 3.2).
 */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  valueOf(): number {
    return Number(this.text)
  }
}

export type Json = null | boolean | string | number | bigint | JsonNumber | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** JSON whose inside the format does not define ("free JSON" in LVR1.md). */
export const freeJson = z.custom<Json>((value) => value !== undefined)

/** An exact integer: a number while it is safe, a bigint beyond. */
export type Int = number | bigint

const between = (low: bigint, high: bigint) =>
  z
    .union([z.int(), z.bigint()])
    .refine((value) => low <= value && value <= high, `an integer from ${low} to ${high}`)

/** 0 … 18446744073709551615 */
export const usize = between(0n, 2n ** 64n - 1n)
/** −9223372036854775808 … 9223372036854775807; times are Unix seconds in it */
export const i64 = between(-(2n ** 63n), 2n ** 63n - 1n)
/** 0 … 4294967295 */
export const u32 = between(0n, 2n ** 32n - 1n)
/** A 32-bit float: any JSON number that is finite as a double (LVR1.md 3.2, `temperature`). */
export const f32 = z.union([z.number(), z.instanceof(JsonNumber)])
