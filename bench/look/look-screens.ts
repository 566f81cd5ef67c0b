import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NARROW, openBrowser, WIDE } from '../../test/stage/browser.ts'

/** Writes a picture of each whole page: narrow and wide, light and dark. */
export async function takeScreens(url: string, paths: readonly string[], directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  await using browser = await openBrowser()
  for (const path of paths) {
    for (const viewport of [NARROW, WIDE]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await using sight = await browser.see(`${url}${path}`, { viewport, colorScheme })
        const file = `${nameOf(path)}-${viewport.width}-${colorScheme}.png`
        await sight.page.screenshot({ path: join(directory, file), fullPage: true })
      }
    }
    process.stderr.write(`${path}\n`)
  }
}

/** `contests-42-ledger` for `/contests/42/ledger`; `home` for `/`. */
function nameOf(path: string): string {
  const name = path.replaceAll(/[^\w]+/g, '-').replaceAll(/^-|-$/g, '')
  return name === '' ? 'home' : name
}
