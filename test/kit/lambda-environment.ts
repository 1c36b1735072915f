import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

/** One call of a function, and how its process answers. */
export interface Invocation {
  readonly id: string
  /** JSON. */
  readonly event: string
  /** The answer as the process sends it; read it to the end. */
  answered(answer: IncomingMessage): void
  failed(why: Error): void
}

export interface FunctionSettings {
  readonly name: string
  /** With `index.mjs`. */
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Takes the lines that the function logs. */
  readonly log?: (line: string) => void
}

/** What runs a handler; another runtime interface client can be put in its place. */
const RUNTIME = process.env.LAMBDA_RUNTIME || fileURLToPath(new URL('lambda-runtime.ts', import.meta.url))

/** An execution environment: one process of a function, and the runtime API that it alone asks. It has one event at a time. */
export class Environment {
  readonly #settings: FunctionSettings
  readonly #idle: (environment: Environment) => void
  readonly #gone: (environment: Environment) => void
  #child: ChildProcess | undefined
  #asking: ServerResponse | undefined
  #current: { readonly invocation: Invocation; readonly late: NodeJS.Timeout } | undefined

  /**
   * @param idle called whenever it asks for an event
   * @param gone called once when the process has ended
   */
  constructor(
    settings: FunctionSettings,
    idle: (environment: Environment) => void,
    gone: (environment: Environment) => void,
  ) {
    this.#settings = settings
    this.#idle = idle
    this.#gone = gone
  }

  async start(): Promise<void> {
    const { name, folder, variables, log } = this.#settings
    const server = createServer((asked, answer) => this.#serve(asked, answer))
    // A stream is one long request, and the connection for an answer may wait as long as the function thinks.
    server.requestTimeout = server.headersTimeout = server.keepAliveTimeout = 0
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const child = spawn(process.execPath, [RUNTIME], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH ?? '',
        ...variables,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1769',
        LAMBDA_TASK_ROOT: folder,
        _HANDLER: 'index.handler',
      },
    })
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (text: string) => log?.(text))
    const warn = log ?? ((text: string) => process.stderr.write(text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => warn(text))
    child.once('exit', (code, signal) => {
      this.#end(new Error(`the process of ${name} ended with ${code ?? signal}`))
      server.closeAllConnections()
      server.close()
      this.#gone(this)
    })
  }

  /** Hands it an event; only after it was idle. */
  give(invocation: Invocation): void {
    const { timeoutMs, name } = this.#settings
    const late = setTimeout(() => {
      this.#end(new Error(`${name} timed out after ${timeoutMs} ms`))
      this.#child?.kill('SIGKILL')
    }, timeoutMs)
    this.#current = { invocation, late }
    this.#asking?.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': invocation.id,
      'Lambda-Runtime-Deadline-Ms': String(Date.now() + timeoutMs),
      'Lambda-Runtime-Invoked-Function-Arn': `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
    })
    this.#asking?.end(invocation.event)
    this.#asking = undefined
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
  }

  /** Undefined before the start. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  #serve(asked: IncomingMessage, answer: ServerResponse): void {
    const { url = '' } = asked
    if (url.endsWith('/invocation/next')) {
      this.#end(new Error(`${this.#settings.name} asked for another event before it had answered`))
      this.#asking = answer
      this.#idle(this)
      return
    }
    asked.once('close', () => answer.writableEnded || answer.writeHead(202).end())
    if (url.endsWith('/response') && this.#current) {
      const { invocation } = this.#current
      asked.once('close', () => this.#settle())
      invocation.answered(asked)
      return
    }
    asked.resume()
    this.#end(new Error(`${this.#settings.name} failed: ${url}`))
  }

  #settle(): void {
    clearTimeout(this.#current?.late)
    this.#current = undefined
  }

  #end(why: Error): void {
    const { invocation } = this.#current ?? {}
    this.#settle()
    invocation?.failed(why)
  }
}
