import { frame, header, PREAMBLE } from '../functions/api/api-kit.ts'

const MARKUP = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'
/** Turns what follows around, where a reader lets it. */
const OVERRIDE = '\u202e'

const entry = (content: string, more: object = {}) => ({ content, tokens: 1, ...more })

const checkpoint = (entries: object[]) =>
  frame(
    JSON.stringify({
      ContextCheckpoint: {
        snapshot: {
          stage_name: MARKUP,
          total_tokens: 18446744073709,
          max_tokens: 9,
          regions: [
            { name: `${MARKUP}${OVERRIDE}`, kind: MARKUP, current_tokens: 1, max_tokens: 0, entries },
          ],
        },
        at: 9007199254740991,
      },
    }),
  )

/** All that a transcript may hold to harm who reads it. */
export function* hostileArchive(run: string): Generator<Uint8Array> {
  yield PREAMBLE
  yield header(run, {
    title: `${MARKUP}${'ab '.repeat(3333)}`,
    task: `${OVERRIDE}${MARKUP}\0\u{e0041}`,
    agent_name: 'javascript:alert(1)',
    status: 'error',
    error: MARKUP,
    started_at: -62_135_596_800_000,
  })
  yield checkpoint([
    entry(MARKUP, { key: MARKUP, metadata: { [MARKUP]: MARKUP, __proto__: 1 } }),
    entry(`a line of a megabyte ${'x'.repeat(1 << 20)}`),
    entry(`NUL \0 bell \x07 override ${OVERRIDE} isolate \u2066 tag \u{e0041} end`),
    entry('שלום עולם, مرحبا and 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿'),
    entry('[a link](https://example.com/) ![an image](https://example.com/pixel.png)'),
    entry('call', {
      kind: {
        type: 'AssistantTurn',
        tool_calls: [{ id: MARKUP, name: MARKUP, arguments: { big: 1, html: MARKUP } }],
      },
    }),
  ])
  // A number that no double holds, spelled as it must come back.
  yield frame('{"ToolBatch":{"calls":[],"at":18014398509481985,"response":"digits"}}')
  yield frame('{"Message":{"message":{"role":"user","content":"half a pair \\ud800"},"at":1}}')
  yield frame('{"FutureKind":{"exact":1.0,"at":1}}')
  yield frame('not even JSON')
  yield frame('')
}
