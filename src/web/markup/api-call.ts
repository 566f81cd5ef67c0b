import type { RawEndpoint } from '../../protocol/endpoints/endpoints.ts'

/** Request to the API, in the parts that the typed client takes. */
export type ApiCall = Readonly<{
  id: string
  base: string
  request: string
  /** Value of the path's variable part; null for a path without one. */
  place: string | null
  query: readonly (readonly [name: string, value: string])[]
  /** Names of the parameters that are lists. */
  lists: ReadonlySet<string>
}>

/** Endpoints that answer with bytes, not text. */
export const BINARY_ENDPOINTS: ReadonlySet<string> = new Set<RawEndpoint>(['logTile', 'logEntries'])

/** TypeScript program that makes the request with this project's client. */
export function typescriptOf(call: ApiCall): string {
  return `import { openDaybook } from 'daybook-client'

const daybook = openDaybook('${call.base}')
${linesOf(call)}`
}

function linesOf({ id, request, place, query, lists }: ApiCall): string {
  if (BINARY_ENDPOINTS.has(id)) {
    return `const answer = await daybook.ask.get('${request}')\nconsole.log(answer.bytes().length)`
  }
  if (id === 'archiveFile') {
    return `for await (const event of daybook.month('${monthIn(place)}')) console.log(event.seq)`
  }
  const fields = query
    // The client always asks for JSON.
    .filter(([name]) => name !== 'format')
    .map(([name, value]) => {
      const written = lists.has(name) ? `[${value.split(',').map(textOf).join(', ')}]` : literalOf(value)
      return `${name}: ${written}`
    })
  const asked = fields.length === 0 ? [] : [`{ ${fields.join(', ')} }`]
  if (id === 'stream') {
    return `for await (const event of daybook.stream(${asked.join('')})) console.log(event)`
  }
  const placed = place === null ? [] : [literalOf(place)]
  const method = id === 'events' ? 'page' : id
  return `console.log(await daybook.${method}(${[...placed, ...asked].join(', ')}))`
}

/** Month in the name of an archive file, `2026-10`. */
export function monthIn(place: string | null): string {
  return place?.slice(0, 'yyyy-mm'.length) ?? ''
}

function literalOf(value: string): string {
  return /^-?\d{1,15}$/.test(value) ? value : textOf(value)
}

function textOf(value: string): string {
  return `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
