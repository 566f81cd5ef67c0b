import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../stage/browser.ts'
import { ROOT } from '../stage/places.ts'
import { withWords, wordsOfPage } from './page-picture.ts'

// Takes the picture of README again: `npm start`, then `node test/documents/take-picture.ts`.

const [url = 'http://127.0.0.1:8080/'] = process.argv.slice(2)
await using browser = await openBrowser()
await using sight = await browser.see(url, { viewport: { width: 1280, height: 606 }, colorScheme: 'light' })
const words = wordsOfPage(await (await fetch(url)).text())
writeFileSync(join(ROOT, 'docs', 'pictures', 'start.png'), withWords(await sight.page.screenshot(), words))
