import type { ExampleRequest } from './api-answers.ts'
import type { RawEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { type DocumentedEndpoint, mediaOf } from './api-document.ts'

/** A program in one language that sends a request. */
type Snippet = Readonly<{ language: 'curl' | 'TypeScript' | 'Python' | 'Command line'; text: string }>

/** Request, in the form that the snippets of all languages need. */
type SnippetRequest = Readonly<{
  id: string
  base: string
  request: string
  url: string
  isJson: boolean
  /** Value of the path's variable part; null for a path without one. */
  place: string | null
  query: readonly (readonly [name: string, value: string])[]
  /** Names of the parameters that are lists. */
  lists: ReadonlySet<string>
}>

/** Endpoints that answer with bytes, not text. */
const BINARY_ENDPOINTS: ReadonlySet<string> = new Set<RawEndpoint>(['logTile', 'logEntries'])

/** Programs that send an example request: curl, TypeScript, Python and the command line. */
export function snippetsOf(
  base: string,
  endpoint: DocumentedEndpoint,
  example: ExampleRequest,
): readonly Snippet[] {
  const request: SnippetRequest = {
    id: endpoint.operationId,
    base,
    request: example.request,
    url: `${base}${example.request}`,
    place: Object.values(example.segments)[0] ?? null,
    query: [...new URLSearchParams(example.query)],
    lists: new Set(
      endpoint.parameters.flatMap(({ name, schema }) => (schema.type === 'array' ? [name] : [])),
    ),
    isJson: mediaOf(endpoint)[0]?.[0].includes('json') === true,
  }
  return [
    { language: 'curl', text: curlOf(request) },
    { language: 'TypeScript', text: typescriptOf(request) },
    { language: 'Python', text: pythonOf(request) },
    { language: 'Command line', text: commandOf(request) },
  ]
}

function curlOf({ id, url }: SnippetRequest): string {
  if (id === 'stream') return `curl -N '${url}'`
  return `curl ${id === 'archiveFile' || BINARY_ENDPOINTS.has(id) ? '-O' : '-s'} '${url}'`
}

/** TypeScript program that makes the request with this project's client. */
function typescriptOf(request: SnippetRequest): string {
  return `import { openDaybook } from 'daybook-client'

const daybook = openDaybook('${request.base}')
${linesOf(request)}`
}

function linesOf({ id, request, place, query, lists }: SnippetRequest): string {
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
function monthIn(place: string | null): string {
  return place?.slice(0, 'yyyy-mm'.length) ?? ''
}

function literalOf(value: string): string {
  return /^-?\d{1,15}$/.test(value) ? value : textOf(value)
}

function textOf(value: string): string {
  return `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}

function pythonOf({ id, url, isJson }: SnippetRequest): string {
  if (id === 'stream') {
    return `import json
import urllib.request

request = urllib.request.Request("${url}", headers={"Accept": "application/x-ndjson"})
with urllib.request.urlopen(request, timeout=60) as lines:
    for line in lines:
        print(json.loads(line), flush=True)`
  }
  if (id === 'archiveFile') {
    return `import gzip
import json
import urllib.request

with urllib.request.urlopen("${url}") as answer:
    for line in gzip.open(answer, "rt", encoding="utf-8"):
        print(json.loads(line)["seq"])`
  }
  const [modules, read] = isJson
    ? ['import json\nimport urllib.request', 'json.load(answer)']
    : ['import urllib.request', BINARY_ENDPOINTS.has(id) ? 'len(answer.read())' : 'answer.read().decode()']
  return `${modules}

with urllib.request.urlopen("${url}") as answer:
    print(${read})`
}

function commandOf({ id, place, query, base }: SnippetRequest): string {
  if (id === 'archiveFile') return `daybook pull ${base} ${monthIn(place)} --to daybook`
  // The command line has no single tiles; `verify` checks the whole tree.
  if (BINARY_ENDPOINTS.has(id)) return `daybook verify ${base}`
  const options = query.map(([name, value]) => ` --${dashed(name)}${name === 'nonzero' ? '' : ` ${value}`}`)
  if (id === 'stream') return `daybook tail ${base}${options.join('')}`
  return `daybook get ${dashed(id)} ${base}${place === null ? '' : ` ${place}`}${options.join('')}`
}

function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
