// WebAssembly's text form into its bytes: as much of it as the kernel needs, so that what runs can be read here and no bytes
// of another tool's making are kept. Numbers are those of the core specification 2.0, section 5.

type Node = string | readonly Node[]

/** Instructions without immediates, or with the immediates that the table beside says. */
const PLAIN: Readonly<Record<string, readonly number[]>> = {
  'i32.eqz': [0x45],
  'i32.eq': [0x46],
  'i32.lt_u': [0x49],
  'i32.gt_u': [0x4b],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.and': [0x71],
  'i32.or': [0x72],
  'i32.shl': [0x74],
  'i32.shr_u': [0x76],
  'i32.wrap_i64': [0xa7],
  'i64.eqz': [0x50],
  'i64.ctz': [0x7a],
  'i64.add': [0x7c],
  'i64.sub': [0x7d],
  'i64.and': [0x83],
  'i64.or': [0x84],
  'i64.xor': [0x85],
  'i64.shl': [0x86],
  'i64.shr_s': [0x87],
  'i64.shr_u': [0x88],
  'i64.extend_i32_u': [0xad],
  'i8x16.swizzle': [0xfd, 14],
  'i8x16.splat': [0xfd, 15],
  'i8x16.eq': [0xfd, 35],
  'i8x16.lt_u': [0xfd, 38],
  'i8x16.bitmask': [0xfd, 100],
  'i8x16.shr_u': [0xfd, 109],
  'i8x16.sub_sat_u': [0xfd, 115],
  'v128.and': [0xfd, 78],
  'v128.or': [0xfd, 80],
  'v128.xor': [0xfd, 81],
  'v128.any_true': [0xfd, 83],
  return: [0x0f],
  unreachable: [0x00],
}
/** Loads and stores: the opcode and the alignment that is told, which only is a hint. */
const MEMORY: Readonly<Record<string, readonly number[]>> = {
  'i32.load': [0x28, 2],
  'i32.load8_u': [0x2d, 0],
  'i32.store': [0x36, 2],
  'v128.load': [0xfd, 0, 0],
}
/** Sixteen bytes follow the opcode. */
const BYTES: Readonly<Record<string, readonly number[]>> = {
  'v128.const': [0xfd, 12],
  'i8x16.shuffle': [0xfd, 13],
}
const LOCAL: Readonly<Record<string, number>> = { 'local.get': 0x20, 'local.set': 0x21, 'local.tee': 0x22 }
const BRANCH: Readonly<Record<string, number>> = { br: 0x0c, br_if: 0x0d }
const TYPES: Readonly<Record<string, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b }

const EMPTY_BLOCK = 0x40
const END = 0x0b

/**
 * The bytes of a module with one exported memory, `memory`, and the functions in the text, exported under their names:
 * `(func $name (param $a i32) (result i32) (local $b i64) …)`, instructions folded or in a row.
 *
 * @throws SyntaxError for what it does not know
 */
export function assemble(text: string): Uint8Array<ArrayBuffer> {
  const functions = nodesOf(text).map(functionOf)
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      functions.map(({ type }) => type),
    ),
    ...section(
      3,
      functions.map((_, n) => unsigned(n)),
    ),
    ...section(5, [[0, 1]]),
    ...section(7, [
      [...named('memory'), 2, 0],
      ...functions.map(({ name }, n) => [...named(name), 0, ...unsigned(n)]),
    ]),
    ...section(
      10,
      functions.map(({ body }) => [...unsigned(body.length), ...body]),
    ),
  ])
}

function functionOf(node: Node) {
  const [, name = '', ...parts] = node as [string, string, ...Node[]]
  const declared = (what: string) =>
    parts.filter((part): part is [string, string, string] => part[0] === what)
  const params = declared('param')
  const results = declared('result')
  const locals = declared('local')
  const types = (list: readonly (readonly string[])[]) =>
    list.map((one) => TYPES[one.at(-1) ?? ''] ?? fail(`${one}`))
  const names = [...params, ...locals].map(([, local]) => local)
  const code: number[] = []
  for (const one of parts.slice(params.length + results.length + locals.length)) write(one, names, [], code)
  return {
    name: name.slice(1),
    type: [
      0x60,
      ...unsigned(params.length),
      ...types(params),
      ...unsigned(results.length),
      ...types(results),
    ],
    body: [...unsigned(locals.length), ...types(locals).flatMap((type) => [1, type]), ...code, END],
  }
}

/** Writes an instruction behind its operands. @param labels of the blocks around it, innermost first */
function write(node: Node, locals: readonly string[], labels: readonly string[], out: number[]): void {
  const [op = '', ...rest] = (typeof node === 'string' ? [node] : node) as [string, ...Node[]]
  const all = (nodes: readonly Node[], inner = labels) => {
    for (const one of nodes) write(one, locals, inner, out)
  }
  const [first = '', ...operands] = rest as [string, ...Node[]]
  if (op === 'block' || op === 'loop') {
    const isNamed = typeof first === 'string' && first.startsWith('$')
    out.push(op === 'block' ? 0x02 : 0x03, EMPTY_BLOCK)
    all(isNamed ? operands : rest, [isNamed ? first : '', ...labels])
    out.push(END)
  } else if (op === 'if') {
    all(rest.slice(0, -1))
    out.push(0x04, EMPTY_BLOCK)
    all((rest.at(-1) as Node[]).slice(1), ['', ...labels]) // (then …)
    out.push(END)
  } else if (op in LOCAL) {
    all(operands)
    out.push(LOCAL[op] as number, ...unsigned(indexIn(locals, first)))
  } else if (op in BRANCH) {
    all(operands)
    out.push(BRANCH[op] as number, ...unsigned(indexIn(labels, first)))
  } else if (op === 'i32.const') out.push(0x41, ...signed(BigInt(first)))
  else if (op === 'i64.const') out.push(0x42, ...signed(BigInt.asIntN(64, BigInt(first))))
  else if (op in BYTES) {
    all(rest.slice(16))
    out.push(...(BYTES[op] ?? []), ...rest.slice(0, 16).map(Number))
  } else if (op in MEMORY) {
    const offset =
      typeof first === 'string' && first.startsWith('offset=') ? Number(first.slice(7)) : undefined
    all(offset === undefined ? rest : operands)
    out.push(...(MEMORY[op] ?? []), ...unsigned(offset ?? 0))
  } else {
    all(rest)
    out.push(...(PLAIN[op] ?? fail(op)))
  }
}

function indexIn(names: readonly string[], name: string): number {
  const index = names.indexOf(name)
  return index < 0 ? fail(name) : index
}

/** The parenthesised nodes of a text; `;;` begins a comment. */
function nodesOf(text: string): Node[] {
  const open: Node[][] = [[]]
  for (const [token] of text.replaceAll(/;;.*/g, '').matchAll(/[()]|[^\s()]+/g)) {
    if (token === '(') open.push([])
    else if (token === ')') {
      const closed = open.pop() as Node[]
      ;(open.at(-1) ?? fail(')')).push(closed)
    } else open.at(-1)?.push(token)
  }
  return open[0] as Node[]
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  const body = [...unsigned(items.length), ...items.flat()]
  return [id, ...unsigned(body.length), ...body]
}

function named(name: string): number[] {
  const bytes = new TextEncoder().encode(name)
  return [...unsigned(bytes.length), ...bytes]
}

/** LEB128 of a number that is not negative. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  const rest = value >> 7n
  const isLast = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40)
  return isLast ? [low] : [low | 0x80, ...signed(rest)]
}

function fail(what: string): never {
  throw new SyntaxError(`no WebAssembly that is known here: ${what}`)
}
