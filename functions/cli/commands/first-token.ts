import type { Command } from 'commander'
import { examples, type Verb } from '../command.ts'
import { openStore } from '../open-store.ts'
import { type StoreOptions, withStoreOptions } from '../store-options.ts'

/** `token first`: how a store that has only just been deployed is entered. */
export const firstToken = (group: Command, act: Parameters<Verb>[1]): void => {
  withStoreOptions(
    group
      .command('first')
      .summary('make the first token of a store, without a server')
      .description(
        'Makes a token of tenant default with all scopes in the store itself, and prints it, this once, on standard output. ' +
          'Whoever may write the store may do this: on AWS with the credentials of the account, locally while no server runs. ' +
          'With RUNFOLD_ADMIN_TOKEN set that text becomes the token.',
      ),
  )
    .addHelpText('after', examples('token first --store aws --bucket my-runs --table my-runs'))
    .action(
      act(async (session, options: StoreOptions) => {
        const { store, tokens, adminToken, close } = await openStore(session, options)
        try {
          const text = adminToken ?? store.makeTokenText()
          await tokens.install(text)
          const { out, err, json } = session
          if (json) await out.json({ token: text })
          else {
            await out.line(text)
            await err.line('the token is shown this once; keep it in RUNFOLD_TOKEN')
          }
          return undefined
        } finally {
          close()
        }
      }),
    )
}
