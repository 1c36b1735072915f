import { SCOPES, type Scope, type TokenRequest, tokenRequest } from '#schema'
import { examples, type Verb, words } from '../command.ts'
import { tryEach } from '../each.ts'
import { printTable } from '../table.ts'
import { oneLine } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'
import { firstToken } from './first-token.ts'

interface MakeOptions {
  readonly scopes: readonly Scope[]
  readonly tenant?: string
  readonly prefix?: string
  readonly expires?: string
}

export const token: Verb = (program, act) => {
  const group = program
    .command('token')
    .summary('make, list and revoke tokens')
    .description('Makes, lists and revokes tokens (scope admin or operator).')

  group
    .command('make <name>')
    .summary('make a token no wider than your own')
    .description('Makes a token no wider than your own and prints it, this once, on standard output.')
    .requiredOption('--scopes <list>', `comma list of ${SCOPES.join(', ')}`, words(SCOPES))
    .option('--tenant <tenant>', 'for another tenant (needs operator)')
    .option('--prefix <text>', 'only for runs whose id begins so')
    .option('--expires <time>', 'ends at this time (RFC 3339)')
    .addHelpText(
      'after',
      examples('token make laptop --scopes append,read', 'token make ci --scopes read --prefix ci-'),
    )
    .action(
      act(async ({ client, json, out, err }, name: string, options: MakeOptions) => {
        const made = await (await client()).makeToken(requestOf(name, options))
        if (json) await out.json(made)
        else {
          await out.line(made.token)
          await err.line(`${oneLine(made.token_id)}: the token is shown this once; keep it in RUNFOLD_TOKEN`)
        }
        return undefined
      }),
    )

  firstToken(group, act)

  group
    .command('ls')
    .summary('list tokens')
    .description('Lists tokens; the tokens themselves are nowhere. With --json a token a line.')
    .addHelpText('after', examples('token ls'))
    .action(
      act(async ({ client, json, out }) => {
        const { items } = await (await client()).tokens()
        if (json) for (const row of items) await out.json(row)
        else
          await printTable(
            out,
            [
              { title: 'ID', value: (row) => row.token_id },
              { title: 'NAME', value: (row) => row.name },
              { title: 'TENANT', value: (row) => row.tenant, width: 20 },
              { title: 'SCOPES', value: (row) => row.scopes.join(','), width: 50 },
              { title: 'PREFIX', value: (row) => row.run_prefix, width: 20 },
              { title: 'EXPIRES', value: (row) => row.expires_at },
              { title: 'LAST USED', value: (row) => row.last_used_at },
            ],
            items,
            'no tokens',
          )
        return undefined
      }),
    )

  group
    .command('rm <token_id...>')
    .summary('revoke tokens')
    .description('Revokes tokens; within a minute they open nothing any more.')
    .addHelpText('after', examples('token rm tok_4f2a'))
    .action(
      act(async (session, ids: string[]) => {
        const { client, json, out } = session
        const revoke = async (id: string) => {
          await (await client()).revokeToken(id)
          await (json ? out.json({ token_id: id, revoked: true }) : out.line(`revoked ${oneLine(id)}`))
          return undefined
        }
        const [id = ''] = ids
        if (ids.length === 1) return revoke(id)
        return (await tryEach(session, ids, { work: revoke, key: 'token_id', nameOf: (id) => id })).code
      }),
    )
}

const requestOf = (name: string, { scopes, tenant, prefix, expires }: MakeOptions): TokenRequest => {
  const request = {
    name,
    scopes: [...scopes],
    ...(tenant !== undefined && { tenant }),
    ...(prefix !== undefined && { run_prefix: prefix }),
    ...(expires !== undefined && { expires_at: expires }),
  }
  const checked = tokenRequest.safeParse(request)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw new UsageError(`${issue?.path.join('.')}: ${issue?.message}`)
}
