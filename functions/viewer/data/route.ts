/** What stands behind `?` in the fragment; absent is not the same as empty. */
export type Query = Readonly<Record<string, string>>

export const RUN_TABS = ['window', 'compare', 'records', 'usage', 'about'] as const
export type RunTab = (typeof RUN_TABS)[number]

/** A place in the viewer; every one has an address of its own. */
export type Route =
  | { readonly view: 'runs'; readonly query: Query }
  | { readonly view: 'run'; readonly run: string; readonly tab: RunTab; readonly query: Query }
  | { readonly view: 'sessions'; readonly query: Query }
  | { readonly view: 'session'; readonly harness: string; readonly id: string; readonly query: Query }
  | { readonly view: 'nowhere'; readonly query: Query }

/**
 * The place a fragment names. Addresses live in the fragment, which no server sees: static files need no rewriting, and
 * what a reader looks at stays in the browser.
 */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  const query: Query = Object.fromEntries(new URLSearchParams(search))
  const names = path.split('/').slice(1).map(decoded)
  const [noun, first, second] = names
  if (!noun || (noun === 'runs' && !first)) return { view: 'runs', query }
  if (noun === 'runs' && first) {
    const tab = RUN_TABS.find((one) => one === (second ?? 'window'))
    if (tab) return { view: 'run', run: first, tab, query }
  }
  if (noun === 'sessions' && !first) return { view: 'sessions', query }
  if (noun === 'sessions' && first && second) return { view: 'session', harness: first, id: second, query }
  return { view: 'nowhere', query }
}

/** The fragment of a place, `#` included. */
export function hashOf(route: Route): string {
  const query = new URLSearchParams(route.query)
  return `#/${pathOf(route).map(encodeURIComponent).join('/')}${query.size > 0 ? `?${query}` : ''}`
}

/** The same place with some of its query changed; undefined takes a word out. */
export function withQuery<R extends Route>(
  route: R,
  changes: Readonly<Record<string, string | undefined>>,
): R {
  const query = Object.entries({ ...route.query, ...changes }).filter(([, value]) => value !== undefined)
  return { ...route, query: Object.fromEntries(query) as Query }
}

/** Those of these words that a query has; an empty one counts as absent. */
export const wordsOf = <const Word extends string>(
  query: Query,
  words: readonly Word[],
): Partial<Record<Word, string>> =>
  Object.fromEntries(words.flatMap((word) => (query[word] ? [[word, query[word]]] : []))) as Partial<
    Record<Word, string>
  >

/** A whole number from a query, if it is one. */
export function numberIn(query: Query, name: string): number | undefined {
  const text = query[name] ?? ''
  const value = Number(text)
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(value) ? value : undefined
}

function pathOf(route: Route): string[] {
  switch (route.view) {
    case 'run':
      return ['runs', route.run, ...(route.tab === 'window' ? [] : [route.tab])]
    case 'session':
      return ['sessions', route.harness, route.id]
    case 'nowhere':
      return []
    default:
      return [route.view]
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
