import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type BrowserContextOptions, chromium, type LaunchOptions, type Page } from 'playwright-core'

/** Chromium of the system; the tests download none. */
export const CHROMIUM = '/usr/bin/chromium'
/** Flags for a browser that is offline except for the page. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/**
 * Features that Chromium does without. Only the last list on its command line counts, so the first lines repeat that of
 * Playwright. The last two would start two further renderers with each page, for an address bar that nobody sees: half of
 * the processor time of a page.
 */
const FEATURES_OFF = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
]
/** Flags for a browser that a test drives. */
export const DRIVEN_FLAGS: readonly string[] = [
  ...CHROMIUM_FLAGS,
  `--disable-features=${FEATURES_OFF.join(',')}`,
]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Rules of axe: WCAG 2.2 AA and best practices. */
const ALL = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
} as const
/** Rules of axe about colours. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const

export const WIDE = { width: 1280, height: 900 }
export const NARROW = { width: 390, height: 844 }

/** Time limit of a wait for a page or an element: a busy machine needs half a minute. */
const WAIT_MS_MAX = 60_000

/** A page in its own browser context. */
export type BrowserPage = AsyncDisposable &
  Readonly<{
    page: Page
    /** Errors so far: console errors, exceptions, and requests to other hosts. */
    wrong: readonly string[]
  }>

export type Browser = AsyncDisposable &
  Readonly<{
    /** Opens a page of the service; `options` are Playwright's, such as `colorScheme` and `javaScriptEnabled`. */
    see(url: string, options?: BrowserContextOptions): Promise<BrowserPage>
  }>

const LAUNCHED: LaunchOptions = { executablePath: CHROMIUM, args: [...DRIVEN_FLAGS] }
/** Variable with the address of a browser that several test files share: a start takes a second of processor time. */
const SHARED = 'TEST_BROWSER'

/** Starts a Chromium that the test files of this process's children share. Disposal stops it. */
export async function openSharedBrowser(): Promise<AsyncDisposable | undefined> {
  if (!existsSync(CHROMIUM)) return undefined
  // Otherwise Playwright ends this process at a signal, before the report of the tests.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  const server = await chromium.launchServer({ ...LAUNCHED, ...signals, host: '127.0.0.1' })
  process.env[SHARED] = server.wsEndpoint()
  return { [Symbol.asyncDispose]: () => server.close() }
}

/** Connects to the shared Chromium, or starts one. Disposal closes what the test opened in it. */
export async function openBrowser(): Promise<Browser> {
  const shared = process.env[SHARED]
  const browser = await (shared === undefined ? chromium.launch(LAUNCHED) : chromium.connect(shared))
  return {
    async see(url, options = {}) {
      const context = await browser.newContext({ viewport: WIDE, ...options })
      context.setDefaultTimeout(WAIT_MS_MAX)
      const page = await context.newPage()
      const wrong: string[] = []
      const { origin } = new URL(url)
      page.on('console', (line) => {
        if (line.type() === 'error') wrong.push(line.text())
      })
      page.on('pageerror', (error) => wrong.push(error.message))
      page.on('request', (request) => {
        const target = new URL(request.url())
        if (target.protocol.startsWith('http') && target.origin !== origin) wrong.push(request.url())
      })
      await page.goto(url)
      return { page, wrong, [Symbol.asyncDispose]: () => context.close() }
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

/** Asserts that axe finds no violation. The page needs `bypassCSP`, because axe is injected. */
export async function assertNoViolations(page: Page, what: 'all' | 'colours' = 'all'): Promise<void> {
  // Injected once for each page, because it takes half a second.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  const found = await page.evaluate(
    async (rules) => {
      const { violations } = await axe.run(document, { runOnly: rules })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)
    },
    what === 'all' ? ALL : COLOURS,
  )
  assert.deepEqual(found, [])
}

/** Asserts that axe finds no violation in both themes. The light one covers all rules that do not depend on colours. */
export async function assertThemesSound(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await assertNoViolations(page, colorScheme === 'light' ? 'all' : 'colours')
  }
}

/** Widths in pixels at which every page must fit: phones, tablets and screens. */
const WIDTHS = [320, 360, 390, 600, 768, 800, 1_024, 1_280, 1_920] as const

/** Asserts that the page is no wider than the window and cuts no text, at each of these widths. */
export async function assertFits(page: Page, widths: readonly number[] = WIDTHS): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 640 })
    await assertNoSidewaysScroll(page)
    assert.deepEqual(await page.evaluate(cutTexts), [], `${width} pixels`)
  }
}

/** Texts of the page that are cut off. A transaction and its like are cut on purpose: the whole is one click away. */
function cutTexts(): readonly string[] {
  const elements: readonly PageElement[] = [
    ...document.querySelectorAll('body *:not(.cut, .cut *, input, select, svg *)'),
  ]
  return (
    elements
      .filter(
        (one) => /hidden|clip/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1,
      )
      // Texts for screen readers alone are one pixel wide.
      .filter((one) => one.clientWidth > 1 && one.textContent.trim() !== '')
      .map((one) => `${one.tagName}: ${one.textContent.trim().slice(0, 80)}`)
  )
}

/** Asserts that the page is no wider than the window. */
export async function assertNoSidewaysScroll(page: Page): Promise<void> {
  const [whole, shown] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return [scrollWidth, clientWidth]
  })
  assert.ok(whole !== undefined && shown !== undefined && whole <= shown, `${whole} wide in ${shown}`)
}

/** Globals of the page, for the functions that run in it. */
type PageElement = Readonly<{
  scrollWidth: number
  clientWidth: number
  tagName: string
  textContent: string
}>
declare const document: Readonly<{
  documentElement: PageElement
  querySelectorAll(selector: string): Iterable<PageElement>
}>
declare function getComputedStyle(element: PageElement): Readonly<{ overflowX: string }>
declare const axe: Readonly<{
  run(where: unknown, how: unknown): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}>
