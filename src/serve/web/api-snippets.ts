import type { Operation } from './api-document.ts'

/** The same request in another language; null where that one has another way. */
type Snippet = Readonly<{ name: string; text: string }>

/** Ends by itself, after what is there. */
const STREAM_SECONDS = 10

/** How a request is made with curl, with the typed client and on the command line. */
export function snippetsOf(
  base: string,
  request: string,
  path: string,
  operation: Operation,
): readonly Snippet[] {
  const { operationId: id } = operation
  const [asked = '', search = ''] = request.split('?')
  const place = placeIn(path, asked)
  const query = [...new URLSearchParams(search)]
  const curl =
    id === 'stream' ? `curl -N --max-time ${STREAM_SECONDS}` : id === 'archiveFile' ? 'curl -O' : 'curl -s'
  return [
    { name: 'curl', text: `${curl} '${base}${request}'` },
    ...typescriptOf(id, place, query, operation).map((text) => ({ name: 'TypeScript', text })),
    ...commandOf(id, place, query, base).map((text) => ({ name: 'Command line', text })),
  ]
}

/** What stands in a request where its path has a variable part. */
function placeIn(path: string, asked: string): string | null {
  const form = new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
  return form.exec(asked)?.[1] ?? null
}

type Query = readonly (readonly [name: string, value: string])[]

/** Of files and tiles the client has ways of its own. */
const FILES: ReadonlySet<string> = new Set(['archiveFile', 'logTile', 'logEntries'])

function typescriptOf(
  id: string,
  place: string | null,
  query: Query,
  { parameters }: Operation,
): readonly string[] {
  if (FILES.has(id))
    return id === 'archiveFile' ? [`for await (const event of daybook.month('2026-10')) use(event)`] : []
  const fields = query
    .filter(([name]) => name !== 'format')
    .map(([name, value]) => {
      const isList = parameters.some((one) => one.name === name && one.schema.type === 'array')
      const literal = /^\d{1,15}$/.test(value) ? value : `'${value}'`
      return `${name}: ${
        isList
          ? `[${value
              .split(',')
              .map((one) => `'${one}'`)
              .join(', ')}]`
          : literal
      }`
    })
  const asked = fields.length === 0 ? [] : [`{ ${fields.join(', ')} }`]
  if (id === 'stream') return [`for await (const event of daybook.stream(${asked.join('')})) use(event)`]
  const placed = place === null ? [] : [/^\d+$/.test(place) ? place : `'${place}'`]
  const method = id === 'events' ? 'page' : id
  return [`await daybook.${method}(${[...placed, ...asked].join(', ')})`]
}

function commandOf(id: string, place: string | null, query: Query, base: string): readonly string[] {
  if (id === 'archiveFile') return [`daybook pull ${base} 2026-10`]
  if (FILES.has(id)) return [`daybook verify ${base}`]
  const options = query
    .filter(([name]) => name !== 'format')
    .map(([name, value]) => ` --${dashed(name)}${name === 'nonzero' ? '' : ` ${value}`}`)
  if (id === 'stream') return [`daybook tail ${base}${options.join('')}`]
  return [`daybook get ${dashed(id)} ${base}${place === null ? '' : ` ${place}`}${options.join('')}`]
}

function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
