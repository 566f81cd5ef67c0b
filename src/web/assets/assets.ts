import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '../../protocol/brand.ts'
import { type AnswerRoute, problemReply } from '../../serve/http/route.ts'
import { bundle, cachedScripts, type Script } from './scripts.ts'

/** File that pages load. Its path contains a hash of its content. */
type Asset = Readonly<{ name: string; path: string; type: string; body: Uint8Array }>

/** Scripts that pages load. `chart` is bundled from `island-chart.ts`. */
const ISLANDS = ['api', 'chart', 'frame', 'patterns', 'summary', 'theme', 'verify', 'verify-worker'] as const
export type Island = (typeof ISLANDS)[number]

/**
 * Style sheets and their parts, such as `style/tokens.css`, in the order in which they are served. The rules of printed
 * pages are a sheet of their own, because no page on a screen waits for it.
 */
const STYLES = {
  'style.css': ['tokens', 'text', 'frame', 'book', 'forms', 'charts', 'pages', 'proofs', 'media'],
  'print.css': ['print'],
} as const

/** Font of headings, made by `npm run font`. The style sheet names it by its plain name. */
const FONT = 'headings.woff2'

/** Files that pages load: the style sheets, the font of headings, and a script for each island. */
export type Assets = Readonly<{
  /** Path of a file by its plain name, such as `style.css` or `chart.js`. */
  path(name: string): string
  /** Files by plain name. */
  files: ReadonlyMap<string, Asset>
}>

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  woff2: 'font/woff2',
}
const HASH_CHARS = 10
/** Folder of the pages' sources, which has the folders `islands`, `style` and `fonts`. */
const WEB = join(import.meta.dirname, '..')
/** Folder of the bundled scripts in the built package, below `src/web`. */
export const BUNDLED = 'bundled'

/** Returns a function that bundles the islands at its first call and then returns the same scripts. */
export function openScripts(folder: string = WEB): () => Promise<readonly Script[]> {
  let made: Promise<readonly Script[]> | undefined
  return () =>
    (made ??= makeScripts(folder).catch((error: unknown) => {
      // A cached failure would fail every page until the next start.
      made = undefined
      throw error
    }))
}

async function makeScripts(folder: string): Promise<readonly Script[]> {
  return readBundled(folder) ?? cachedScripts(join(folder, '../..'), () => bundleIslands(folder))
}

/** Returns a function that makes the files at its first call and then returns the same ones. */
export function openAssets(
  scripts: () => Promise<readonly Script[]>,
  folder: string = WEB,
): () => Promise<Assets> {
  let made: Assets | undefined
  return async () => (made ??= await makeAssets(scripts, folder))
}

async function makeAssets(bundled: () => Promise<readonly Script[]>, folder: string): Promise<Assets> {
  const font = assetOf(FONT, readFileSync(join(folder, 'fonts', FONT)))
  const partOf = (part: string): string => readFileSync(join(folder, 'style', `${part}.css`), 'utf8')
  const styles = Object.entries(STYLES).map(([name, parts]) => {
    const style = shortStyle(parts.map(partOf).join('')).replace(`url(${FONT})`, `url(${font.path})`)
    return assetOf(name, Buffer.from(style))
  })
  const scripts = await bundled()
  const all = [font, ...styles, ...scripts.map(({ name, body }) => assetOf(name, body))]
  const files = new Map(all.map((asset) => [asset.name, asset]))
  return {
    files,
    path(name) {
      const found = files.get(name)
      assert(found !== undefined, `there is an asset ${name}`)
      return found.path
    },
  }
}

/** Shortens a style sheet: removes comments, and spaces and semicolons that separate nothing. Keeps its strings. */
function shortStyle(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/('[^']*')| ?([{};]) ?|([,:]) /g, '$1$2$3')
    .replaceAll(';}', '}')
}

/** Scripts of the published package, which has no bundler; undefined in a clone. */
function readBundled(folder: string): readonly Script[] | undefined {
  const bundled = join(folder, BUNDLED)
  if (!existsSync(bundled)) return undefined
  return readdirSync(bundled).map((name) => ({ name, body: readFileSync(join(bundled, name)) }))
}

/** Bundles each island into one script, both those of the pages and those of options. */
export async function bundleIslands(folder: string): Promise<readonly Script[]> {
  const rooms = join(folder, '..')
  const brought = globSync('*/island-*.ts', { cwd: rooms })
  const own = ISLANDS.map((name) => `web/islands/island-${name}.ts`)
  return bundle(rooms, [...own, ...brought])
}

function assetOf(name: string, body: Uint8Array): Asset {
  const [stem = '', ending = ''] = name.split('.')
  return { name, path: `/assets/${stem}.${hashOf(body)}.${ending}`, type: TYPES[ending] ?? '', body }
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex').slice(0, HASH_CHARS)
}

/** A worker has the policy of its own script, not that of its page. */
const WORKER_HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'verify-worker.js': { 'Content-Security-Policy': "default-src 'none'; connect-src 'self'" },
}

const NAME = /^([a-z-]+)\.[0-9a-f]+\.(css|js|woff2)$/

/** Route of the files. An old page may name a file by an earlier hash; it gets the current file. */
export function assetRoute(assets: () => Promise<Assets>): AnswerRoute {
  return {
    path: '/assets/{file}',
    parameters: [],
    allowance: 'none',
    async handle(ask) {
      const { files } = await assets()
      const [, stem = '', ending = ''] = NAME.exec(ask.segments['file'] ?? '') ?? []
      const found = files.get(`${stem}.${ending}`)
      if (found === undefined) return problemReply({ code: 'not-found', detail: 'There is no such file.' })
      const keep = found.path === ask.path ? 'immutable' : 'revalidate'
      const { type, body } = found
      const headers = { ...WORKER_HEADERS[found.name] }
      // A font is compressed already.
      return { is: 'body', keep, etag: 'of-content', type, body, headers, compress: found.name !== FONT }
    },
  }
}
