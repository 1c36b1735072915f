import { jsonBytes, parseJson } from '#codec'

/** A value with Raw bytes and lazy lists in it as plain JSON values, for showing it to a person. */
export const plain = <T>(value: unknown): T => parseJson(jsonBytes(value)) as T
