import type { Derived, FileVersion, TranscriptRequest } from './adapter.ts'
import { cardOf } from './card.ts'
import type { Message, Trailer } from './document.ts'
import { DocumentWriter, NOTHING_WRITTEN, type WrittenSoFar } from './document-writer.ts'
import { parseExact } from './exact-json.ts'
import { Facts } from './facts.ts'
import { given } from './given.ts'
import { type Line, LineSplitter } from './lines.ts'
import { Look } from './look.ts'
import {
  type Adapter,
  type OwnTrailer,
  parserName,
  type Transcript,
  type TranscriptParser,
} from './parser.ts'
import { Problems } from './problems.ts'
import type { Resumed } from './resume.ts'
import { StateWriter } from './state.ts'
import { MessageTally } from './tally.ts'
import { ToolNames } from './tool-names.ts'
import { decoded } from './utf8.ts'

/** One derivation, from its first byte or from a resumed state on. */
export class Run {
  readonly #request: TranscriptRequest
  readonly #parserName: string
  readonly #reused: number
  readonly #writer: DocumentWriter
  readonly #transcript: Transcript
  readonly #parser: TranscriptParser
  readonly #lines: LineSplitter
  #records: number
  #parsed = 0

  constructor(request: TranscriptRequest, adapter: Adapter, from?: Resumed) {
    const { harness, id, agent, files } = request
    const saved = from?.saved
    this.#request = request
    this.#parserName = parserName(adapter)
    this.#reused = from?.written.messages ?? 0
    this.#writer = new DocumentWriter(request, from?.written)
    const paths = files.list.map((file) => file.path)
    const name = adapter.transcripts(id, paths).find((transcript) => transcript.agent === agent)
    if (name === undefined) throw new Error('the session has no such transcript')
    const tally = saved ? MessageTally.load(saved.map('tally')) : new MessageTally()
    this.#transcript = {
      ...name,
      harness,
      id,
      facts: saved ? Facts.load(saved.map('facts')) : new Facts(),
      problems: saved ? Problems.load(saved.map('problems')) : new Problems(),
      tools: ToolNames.load(saved?.list('tools') ?? []),
      tally,
      look: new Look(files, from?.inputs),
      emit: (message: Message) => {
        tally.add(message)
        this.#writer.message(message)
      },
      ancestor: (other) => request.ancestor(other),
    }
    this.#parser = adapter.begin(this.#transcript, saved?.map('parser'))
    this.#lines = saved ? new LineSplitter(saved.int('offset'), saved.int('line')) : new LineSplitter()
    this.#records = saved?.int('records') ?? 0
  }

  /** What it has cost so far. */
  get work() {
    return { records_parsed: this.#parsed, raw_bytes_read: this.#transcript.look.bytesRead }
  }

  async *document(): AsyncGenerator<Uint8Array<ArrayBuffer>, Derived> {
    try {
      return yield* this.#document()
    } finally {
      await this.#parser.close?.()
    }
  }

  async *#document(): AsyncGenerator<Uint8Array<ArrayBuffer>, Derived> {
    const { look, path, problems, tally } = this.#transcript
    const file = look.find(path)
    if (file === undefined) problems.add({ code: 'missing_file', path })
    else yield* this.#wholeLines(file)
    yield* this.#writer.take()
    const stable = this.#stable()
    const [offset, line, inputs] = [this.#lines.offset, this.#lines.line, look.inputs]
    const state = file && this.#state(stable, { offset, line, inputs })
    const rest = this.#lines.rest()
    const tail = rest && !(await this.#provisional(rest)) ? rest : undefined
    this.#parser.finish()
    const own = await this.#parser.trailer()
    const trailer = this.#trailer(own, tail)
    this.#writer.trailer(trailer)
    yield* this.#writer.take()
    const { bytes, digest, messages } = this.#writer.soFar()
    return {
      bytes,
      sha256: digest,
      stable_bytes: stable.bytes,
      stable_messages: stable.messages,
      state,
      state_offset: offset,
      transcript_bytes: file?.tail ?? 0,
      inputs: look.inputs,
      card: cardOf(this.#request, trailer, tally),
      bad_lines: problems.badLines,
      counters: {
        ...this.work,
        messages_parsed: messages - this.#reused,
        messages_reused: this.#reused,
      },
    }
  }

  /** The document up to its last stable message, all of which has been taken. */
  #stable(): WrittenSoFar {
    const { bytes, messages, hash } = this.#writer.soFar()
    return messages === 0 ? NOTHING_WRITTEN : { bytes, messages, hash }
  }

  async *#wholeLines(file: FileVersion): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for await (const chunk of this.#transcript.look.read(file, this.#lines.offset)) {
      for (const line of this.#lines.push(chunk)) {
        const waiting = this.#take(line)
        if (waiting !== undefined) await waiting
        if (this.#writer.hasChunk) yield* this.#writer.take()
      }
    }
  }

  /** Waits only where the parser does: a promise a line would cost more than many lines do. */
  #take(line: Line): void | Promise<void> {
    if (line.blank) return
    const { path, problems } = this.#transcript
    const { content } = line
    if (content === undefined) return problems.badLine('bad_json', path, line)
    if (line.padded) problems.add({ code: 'nul_padding', path, ...placeOf(line) })
    if (content.length === 0) return problems.noRecord(line.line)
    const { text, valid } = decoded(content)
    if (!valid) problems.add({ code: 'invalid_utf8', path, ...placeOf(line) })
    const record = parseExact(text)
    if (record === undefined) return problems.badLine('bad_json', path, line)
    if (!(record instanceof Map)) return problems.badLine('not_an_object', path, line)
    this.#records++
    this.#parsed++
    return this.#parser.take(record, line)
  }

  /** Whether the bytes behind the last LF are a record already (SESSIONS.md 4.0, 7); what they are until then is the tail. */
  async #provisional(line: Line): Promise<boolean> {
    if (line.content === undefined || !(parseExact(decoded(line.content).text) instanceof Map)) return false
    await this.#take(line)
    return true
  }

  #state(written: object, place: object): Uint8Array | undefined {
    const { id, agent, path, facts, problems, tools, tally } = this.#transcript
    const out = new StateWriter()
    const body = {
      id,
      agent,
      path,
      ...place,
      records: this.#records,
      written,
      facts: facts.save(),
      problems: problems.save(),
      tools: tools.save(),
      tally: tally.save(out),
      parser: this.#parser.save(out),
    }
    return out.encode(this.#parserName, body)
  }

  #trailer(own: OwnTrailer, tail: Line | undefined): Trailer {
    const { facts, problems, tally } = this.#transcript
    for (const problem of own.problems ?? []) problems.add(problem)
    const { branch, commit, remote } = facts
    return {
      cwd: facts.cwd,
      title: facts.title,
      model: facts.model,
      created_at: facts.createdAt,
      updated_at: facts.updatedAt,
      git: (branch ?? commit ?? remote) ? given({ branch, commit, remote }) : undefined,
      ...given(own),
      counts: {
        records: this.#records,
        ...tally.counts,
        bad_lines: problems.badLines.count,
        problems: problems.count,
      },
      unknown_records: facts.unknown,
      problems: problems.listed,
      tail,
      extra: facts.extra,
    }
  }
}

function placeOf({ line, offset, bytes }: Line) {
  return { line, offset, bytes }
}
