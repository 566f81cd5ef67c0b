import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { assert } from '../../../protocol/brand.ts'
import type { AnswerRoute } from '../../../serve/http/route.ts'
import type { Assets } from '../../assets/assets.ts'
import { HTML_TYPE } from '../../frame/error-page.ts'
import { type Html, html } from '../../markup/html.ts'
import type { Site } from '../../markup/site.ts'
import { NOT_PROVED, verifyForm } from './verify-form.ts'

/** Path of the verifier that readers save to disk. */
export const VERIFIER_PATH = '/verify/daybook-verify.html'

/** Bytes of the saved verifier at most. */
export const VERIFIER_BYTES_MAX: number = 160 * 1024

const GZIP_LEVEL = 9

/** Route of the verifier: one file that works from disk with any log. */
export function verifierRoute(assets: () => Promise<Assets>, site: Site): AnswerRoute {
  let made: string | undefined
  return {
    path: VERIFIER_PATH,
    parameters: [],
    allowance: 'pages',
    async handle() {
      made ??= formatVerifier(await assets(), site)
      return {
        is: 'body',
        keep: 'revalidate',
        etag: 'of-content',
        type: HTML_TYPE,
        body: made,
        headers: {
          'Content-Disposition': 'attachment; filename="daybook-verify.html"',
          'Content-Security-Policy': "default-src 'none'; sandbox",
        },
      }
    },
  }
}

/**
 * Document of the verifier, with the site's style sheet. Its policy allows its own script and style, a worker that the
 * script makes, and requests to any log and RPC server. The worker's script is packed, and unpacked for each check.
 */
function formatVerifier({ files }: Assets, site: Site): string {
  const textOf = (name: string): string => {
    const asset = files.get(name)
    assert(asset !== undefined, `there is an asset ${name}`)
    return Buffer.from(asset.body).toString('utf8').trim()
  }
  // A saved file loads no font.
  const style = `${textOf('style.css').replace(/@font-face\{[^}]*\}/, '')}@media print{${textOf('print.css')}}`
  // `</script` within the source would end the element.
  const script = textOf('verify.js').replaceAll('</script', String.raw`<\/script`)
  // An option may provide a worker that also asks a blockchain.
  const asksChain = files.has('verify-chain.js')
  const worker = gzipSync(textOf(asksChain ? 'verify-chain.js' : 'verify-worker.js'), { level: GZIP_LEVEL })
  const policy = `default-src 'none'; script-src '${digestOf(script)}'; style-src '${digestOf(style)}'; worker-src blob:; connect-src *`
  const form = verifyForm({
    seq: null,
    isAsked: false,
    explorers: site.explorers,
    worker: null,
    base: site.url,
    asksChain,
    otherwise: WITHOUT,
  })
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <title>Daybook verifier</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${element('style', style)}
      </head>
      <body>
        <header>
          <div class="top">
            <div><b class="mark">Daybook verifier</b></div>
          </div>
        </header>
        <main id="main">
          <h1>Is anything hidden or changed?</h1>
          <p class="lead">
            This file checks a log from your own disk. It asks only the
            log${asksChain ? ' and the blockchain servers' : ''} that you name. What it stores of your visits
            stays in this browser.
          </p>
          ${shortHtml(form)} ${shortHtml(NOT_PROVED)}
        </main>
        ${element('script type="text/plain" id="worker"', worker.toString('base64'))}
        ${element('script', script)}
      </body>
    </html>`.markup
}

const WITHOUT = html`<p>The checks need JavaScript. Without it: <code>daybook verify ADDRESS</code>.</p>`

/** Element with this content and no space around it, which would change its digest. */
function element(tag: string, content: string): Html {
  return { markup: `<${tag}>${content}</${tag.split(' ')[0]}>` }
}

/** Markup without the indentation of its source. */
function shortHtml({ markup }: Html): Html {
  return { markup: markup.replaceAll(/\s+/g, ' ') }
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
