/** Whether the payload, as far as it is there, begins as a record does: `{` and then `"`, blanks allowed before each. */
export function opensRecord(payload: Uint8Array): boolean {
  const brace = afterBlanks(payload, 0)
  return payload[brace] === 0x7b && payload[afterBlanks(payload, brace + 1)] === 0x22
}

function afterBlanks(bytes: Uint8Array, at: number): number {
  let byte = bytes[at]
  while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++at]
  return at
}
