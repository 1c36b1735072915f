import { expect, it } from 'vitest'
import { templateOf } from './stack.ts'

/** The whole template of the default stage: a change of what is deployed is seen in review. */
it('the template of the default stage is the one that was reviewed', async () => {
  const text = `${JSON.stringify(templateOf().toJSON(), null, 2)}\n`
  await expect(text).toMatchFileSnapshot('../vectors/template.json')
})
