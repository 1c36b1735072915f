import { resolve } from 'node:path'
import type { Command } from 'commander'
import { Option } from 'commander'
import prettyBytes from 'pretty-bytes'
import type { Harness, ListedSession } from '#schema'
import { counted } from '../../counted.ts'
import { countingNumber, examples, type Verb } from '../command.ts'
import { checkFree } from '../free-file.ts'
import type { Session } from '../session.ts'
import { DocumentStream } from '../sessions/document-stream.ts'
import { exportOf, FORMATS, type Format } from '../sessions/export.ts'
import { findSession } from '../sessions/find-session.ts'
import { type ListOptions, list } from '../sessions/list.ts'
import { asItIs } from '../sessions/redact.ts'
import { showMessage } from '../sessions/show-transcript.ts'
import { writeOut } from '../sessions/write-out.ts'
import { printFacts } from '../table.ts'
import { oneLine } from '../terminal-text.ts'
import { harnessNames, machineOption } from './sync.ts'

interface Choice {
  readonly harness?: readonly Harness[]
  readonly machine?: string
}

const choosing = (command: Command): Command =>
  command
    .option('--harness <list>', 'where an id is of several', harnessNames)
    .option('--machine <name>', 'where a session is of several machines', machineOption)

export const sessions: Verb = (program, act) => {
  const group = program
    .command('sessions')
    .summary('list, read, export and restore archived sessions of coding agents')
    .description('Works with the sessions of coding agents that `sync` and `watch --sessions` have archived.')

  group
    .command('ls')
    .summary('list sessions, the newest first')
    .description('Lists sessions, the newest first. With --json a catalog entry a line.')
    .option('--harness <name>', 'only of this one', harnessNames)
    .option('--machine <name>', 'only from this machine', machineOption)
    .option('--cwd <folder>', 'only sessions held in exactly this folder')
    .option('-q, --q <text>', 'only with this text in title, id or folder')
    .option('-n, --limit <n>', 'show at most this many', countingNumber, 50)
    .option('--all', 'show all of them')
    .addHelpText(
      'after',
      examples('sessions ls', 'sessions ls --harness claude --q login', 'sessions ls --all --json'),
    )
    .action(
      act(async (session, options: ListOptions) => {
        await list(session, options)
        return undefined
      }),
    )

  choosing(group.command('show <id>'))
    .summary('show a session as it was held')
    .description(
      'Shows a session as it was held. The id may be cut after 4 characters, if no other begins so.',
    )
    .option('--agent <id>', 'the transcript of this sub-agent')
    .option('--full', 'whole texts of tools and thinking, not their first lines')
    .addHelpText('after', examples('sessions show 7c1d4e52', 'sessions show 7c1d4e52 --full | less -R'))
    .action(
      act(
        async (
          session,
          id: string,
          options: Choice & { readonly agent?: string; readonly full?: boolean },
        ) => {
          const { out } = session
          const client = await session.client()
          const entry = await findSession(client, id, options)
          const { chunks } = await client.sessionDocument(entry, options.agent)
          if (session.json) {
            for await (const chunk of chunks) await out.bytes(chunk)
            await out.line()
            return undefined
          }
          await out.line(out.paint('bold', oneLine(entry.title)))
          await printFacts(out, factsOf(entry))
          const document = new DocumentStream(chunks)
          for await (const message of document.messages()) {
            session.signal.throwIfAborted()
            await showMessage(out, message, { full: options.full === true })
          }
          await tellRest(session, document)
          return undefined
        },
      ),
    )

  choosing(group.command('export <id>'))
    .summary('write a session as Markdown, HTML or JSON')
    .description(
      'Writes a session as Markdown, as one HTML file without scripts, or as its canonical document. Secrets that are ' +
        'found in it are named instead of shown; what is archived keeps every byte.',
    )
    .addOption(new Option('--format <format>', 'how').choices(FORMATS).default('md'))
    .option('-o, --out <file>', 'where to; default standard output')
    .option('--force', 'replace the file if it is there')
    .option('--agent <id>', 'the transcript of this sub-agent')
    .option('--no-redact', 'as it is, secrets and all')
    .addHelpText(
      'after',
      examples(
        'sessions export 7c1d4e52 -o session.md',
        'sessions export 7c1d4e52 --format html -o session.html',
      ),
    )
    .action(
      act(
        async (
          session,
          id: string,
          options: Choice & {
            format: Format
            out?: string
            force?: boolean
            agent?: string
            redact: boolean
          },
        ) => {
          const file = options.out === undefined ? undefined : resolve(session.io.cwd, options.out)
          if (file !== undefined) await checkFree(file, options.force === true)
          const client = await session.client()
          const entry = await findSession(client, id, options)
          const { chunks } = await client.sessionDocument(entry, options.agent)
          const redact = options.redact
            ? (await import('../sessions/redact-secrets.ts')).redactSecrets
            : asItIs
          await writeOut(session, file, exportOf(entry, chunks, options.format, redact))
          return undefined
        },
      ),
    )

  choosing(group.command('restore <id>'))
    .summary('write the files of a session back into the home of its harness')
    .description(
      'Writes the files of a session into a home of its harness, byte for byte, so that the harness can go on with it on this ' +
        'machine (scope resume). Files that lie there with other content are never touched.',
    )
    .requiredOption('--to-dir <folder>', 'the home of the harness, such as ~/.claude')
    .option('--cwd <folder>', 'the folder it is to be carried on in; default the one it was held in')
    .addHelpText('after', examples('sessions restore 7c1d4e52 --to-dir ~/.claude --cwd ~/site'))
    .action(
      act(
        async (session, id: string, options: Choice & { readonly toDir: string; readonly cwd?: string }) => {
          const { restore } = await import('../sessions/restore.ts')
          const entry = await findSession(await session.client(), id, options)
          return restore(session, entry, options)
        },
      ),
    )

  choosing(group.command('rm <id>'))
    .summary('delete a session for good')
    .description('Deletes a session with all its generations from the archive, for good (scope admin).')
    .addHelpText('after', examples('sessions rm 7c1d4e52'))
    .action(
      act(async (session, id: string, options: Choice) => {
        const client = await session.client()
        const entry = await findSession(client, id, options)
        await client.removeSession(entry)
        const { harness, machine } = entry
        if (session.json) await session.out.json({ harness, id: entry.id, machine, deleted: true })
        else await session.out.line(`deleted ${harness} ${oneLine(entry.id)} of ${machine}`)
        return undefined
      }),
    )
}

const factsOf = (entry: ListedSession): [string, unknown][] => [
  ['session', `${entry.harness} ${entry.id}`],
  ['machine', entry.machine],
  ['folder', entry.cwd],
  ['model', entry.model],
  ['from', entry.created_at],
  ['to', entry.updated_at],
  [
    'messages',
    `${entry.message_count}, ${counted(entry.prompt_count, 'prompt')}, ${counted(entry.tool_call_count, 'tool call')}`,
  ],
  [
    'archived',
    `${prettyBytes(entry.raw_bytes)} in ${counted(entry.file_count, 'file')}, ${entry.archived_at}`,
  ],
]

/** What stands behind the messages: sub-agents, and what could not be read. */
const tellRest = async ({ out, err }: Session, { fields }: DocumentStream): Promise<void> => {
  const { agents = [], problems = [], unknown_records = {} } = fields
  if (agents.length > 0) {
    await out.line(`\n${out.paint('bold', 'sub-agents')} (show with --agent)`)
    for (const { id, kind = '', description = '' } of agents)
      await out.line(oneLine(`  ${id}  ${kind}  ${description}`))
  }
  for (const { code, path, line, detail = '' } of problems)
    await err.line(
      oneLine(`problem: ${code} in ${path}${line === undefined ? '' : ` at line ${line}`} ${detail}`),
    )
  const unknown = Object.entries(unknown_records).map(([type, count]) => `${type || '(none)'} ${count}`)
  if (unknown.length > 0) await err.line(oneLine(`records of unknown types: ${unknown.join(', ')}`))
}
