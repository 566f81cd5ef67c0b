import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CHROMIUM, CHROMIUM_FLAGS, NARROW, openBrowser, WIDE } from '../test/stage/browser.ts'
import { startNode } from '../test/stage/node-process.ts'
import { table } from './stage/report.ts'

/**
 * Prints what Lighthouse says of every page of the demonstration on a simulated phone, and exits with 1 when a page misses a
 * goal. npx downloads Lighthouse: it has 176 MB, and few need it.
 *
 *     npm run look
 *     npm run look -- --page /flows --page /patterns    # these pages only
 *     npm run look -- --screens DIR                     # pictures of the pages instead
 */

const LIGHTHOUSE = 'lighthouse@13.5.0'
/** Categories of Lighthouse, and the least score in each. */
const GOALS = { performance: 98, accessibility: 100, 'best-practices': 100, seo: 100 } as const
/** Time after which Lighthouse stops waiting for a page to be quiet. A live page may never be. */
const LOAD_MS_MAX = 12_000
const RUN_MS_MAX = 180_000

const { values } = parseArgs({
  options: { page: { type: 'string', multiple: true }, screens: { type: 'string' } },
})
const directory = mkdtempSync(join(tmpdir(), 'daybook-look-'))
const node = await startNode(join(directory, 'data'), ['--chain', 'solana'], [], 'demo')
try {
  const paths = values.page ?? (await pagesToLook(node.url))
  if (values.screens === undefined) look(node.url, paths)
  else await takeScreens(node.url, paths, values.screens)
} finally {
  await node.end('SIGTERM')
  rmSync(directory, { recursive: true, force: true })
}

/** Every page of the sitemap without contests, and of each page with a variable part one. */
async function pagesToLook(url: string): Promise<readonly string[]> {
  const asked = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text()
  const sitemap = await asked('/sitemap.xml')
  const paths = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, at = '']) => new URL(at).pathname)
  const pages = paths.filter((path) => !path.startsWith('/contests/') && !/\.\w+$/.test(path))
  const [, contest] = /"id":(\d+)/.exec(await asked('/api/v1/contests?status=paying')) ?? []
  const [, event] = /"seq":(\d+)/.exec(await asked('/api/v1/events?type=payout&order=desc&limit=1')) ?? []
  return [...pages, `/contests/${contest}/ledger`, `/events/${event}`]
}

type Report = Readonly<{
  categories: Readonly<
    Record<string, { score: number | null; auditRefs: readonly { id: string; weight: number }[] }>
  >
  audits: Readonly<Record<string, { score: number | null; numericValue?: number; displayValue?: string }>>
  runtimeError?: { message: string }
}>

/** Measures the pages one after another, and prints the table and the missed goals. */
function look(url: string, paths: readonly string[]): void {
  const missed: string[] = []
  const rows = paths.map((path) => {
    const { categories, audits } = reportOf(url, path)
    const scores = Object.entries(GOALS).map(([name, least]) => {
      const { score = 0, auditRefs = [] } = categories[name] ?? {}
      const percent = Math.round((score ?? 0) * 100)
      const failed = auditRefs.filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9)
      if (percent < least)
        missed.push(`${path} misses ${least} for ${name}: ${failed.map(({ id }) => id).join(', ')}`)
      return String(percent)
    })
    const valueOf = (id: string): number => audits[id]?.numericValue ?? Number.NaN
    return [
      path,
      ...scores,
      valueOf('largest-contentful-paint').toFixed(0),
      valueOf('total-blocking-time').toFixed(0),
      valueOf('cumulative-layout-shift').toFixed(3),
      (valueOf('total-byte-weight') / 1024).toFixed(1),
    ]
  })
  process.stdout.write(`${table(['page', ...Object.keys(GOALS), 'LCP ms', 'TBT ms', 'CLS', 'KiB'], rows)}\n`)
  for (const line of missed) process.stdout.write(`${line}\n`)
  if (missed.length > 0) process.exitCode = 1
}

function reportOf(url: string, path: string): Report {
  const file = join(directory, 'report.json')
  const npx = ['--yes', '--ignore-scripts', LIGHTHOUSE]
  const words = [
    `${url}${path}`,
    '--quiet',
    '--no-enable-error-reporting',
    '--output=json',
    `--output-path=${file}`,
    `--only-categories=${Object.keys(GOALS).join(',')}`,
    `--max-wait-for-load=${LOAD_MS_MAX}`,
    `--chrome-flags=${CHROMIUM_FLAGS.join(' ')}`,
  ]
  const env = { ...process.env, CHROME_PATH: CHROMIUM }
  const { status } = spawnSync('npx', [...npx, ...words], {
    env,
    timeout: RUN_MS_MAX,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`Lighthouse failed for ${path}. npx needs a network the first time`)
  const report: Report = JSON.parse(readFileSync(file, 'utf8'))
  if (report.runtimeError !== undefined) throw new Error(`${path}: ${report.runtimeError.message}`)
  return report
}

/** Writes a picture of each whole page: narrow and wide, light and dark. */
async function takeScreens(url: string, paths: readonly string[], to: string): Promise<void> {
  mkdirSync(to, { recursive: true })
  await using browser = await openBrowser()
  for (const path of paths) {
    for (const viewport of [NARROW, WIDE]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await using sight = await browser.see(`${url}${path}`, { viewport, colorScheme })
        const name = path.replaceAll(/[^\w]+/g, '-').replaceAll(/^-|-$/g, '') || 'home'
        const file = join(to, `${name}-${viewport.width}-${colorScheme}.png`)
        await sight.page.screenshot({ path: file, fullPage: true })
      }
    }
  }
}
