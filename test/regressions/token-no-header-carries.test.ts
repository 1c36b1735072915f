import { expect, it } from 'vitest'
import { cliIn } from '../functions/cli/kit.ts'

// A token with a line break or a letter beyond ASCII cannot be put into a header. fetch threw, the client took that for a
// broken connection and tried again for half a minute, and then blamed the server.

it('refuses a token that no header can carry at once, without showing it', async () => {
  for (const token of ['rf_a\nb', 'rf_日本', 'rf a']) {
    const asked: unknown[] = []
    const fetch = async (...request: unknown[]) => {
      asked.push(request)
      throw new TypeError('fetch failed')
    }
    const { run } = cliIn({ env: { RUNFOLD_TOKEN: token }, fetch })
    const { code, err } = await run('ls')
    expect(code).toBe(2)
    expect(err).toContain('RUNFOLD_TOKEN')
    expect(err).not.toContain(token)
    expect(asked).toEqual([])
  }
})
