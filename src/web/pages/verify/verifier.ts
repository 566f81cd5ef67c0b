import { createHash } from 'node:crypto'
import { assert } from '../../../protocol/brand.ts'
import type { AnswerRoute } from '../../../serve/http/route.ts'
import type { Assets } from '../../assets/assets.ts'
import { HTML_TYPE } from '../../frame/error-page.ts'
import { type Html, html } from '../../markup/html.ts'
import type { Site } from '../../markup/site.ts'
import { checkForms, NOT_PROVED } from './verify-checks.ts'

/** Path of the verifier that readers save to disk. */
export const VERIFIER_PATH = '/verify/daybook-verify.html'

const STYLE = `body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}
label{display:block}input,textarea{display:block;box-sizing:border-box;max-width:100%;font:inherit;margin-block:.25rem}button{font:inherit}
code{overflow-wrap:anywhere}.steps{padding-left:1.25rem}.wrong b,.bad{color:light-dark(#a3262a,#ff8f8f)}.right b,.ok{color:light-dark(#0b6b3a,#5fd39a)}
@media(forced-colors:active){.ok,.bad{color:CanvasText}}`

/** Route of the verifier: one file that works from a disk with any log. */
export function verifierRoute(assets: () => Promise<Assets>, site: Site): AnswerRoute {
  return {
    path: VERIFIER_PATH,
    parameters: [],
    allowance: 'pages',
    async handle() {
      const script = (await assets()).files.get('verifier.js')
      assert(script !== undefined, 'there is a script of the verifier')
      return {
        is: 'body',
        keep: 'revalidate',
        etag: 'of-content',
        type: HTML_TYPE,
        body: formatVerifier(
          Buffer.from(script.body).toString('utf8'),
          checkForms({
            seq: null,
            base: site.url,
            explorers: site.explorers,
            ed25519: null,
            witnesses: null,
            otherwise: WITHOUT,
          }),
        ),
        headers: {
          'Content-Disposition': 'attachment; filename="daybook-verify.html"',
          'Content-Security-Policy': "default-src 'none'; sandbox",
        },
      }
    },
  }
}

const WITHOUT = html`<p>The checks need JavaScript. Without it: <code>daybook verify ADDRESS</code>.</p>`

/** The verifier's document. Its policy allows only its own script and style, and requests to any log and RPC server. */
function formatVerifier(source: string, checks: Html): string {
  // `</script` within the source would end the element.
  const script = source.trim().replaceAll('</script', String.raw`<\/script`)
  const policy = `default-src 'none'; script-src '${digestOf(script)}'; style-src '${digestOf(STYLE)}'; connect-src *`
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <title>Daybook verifier</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <style>
          ${{ markup: STYLE }}
        </style>
      </head>
      <body>
        <main>
          <h1>Daybook verifier</h1>
          <p>
            This file checks a log from your own disk. It asks only the log and the blockchain servers that
            you name. What it stores of your visits stays in this browser.
          </p>
          <h2>What you can check</h2>
          ${shortHtml(checks)} ${shortHtml(NOT_PROVED)}
        </main>
        <script>
          ${{ markup: script }}
        </script>
      </body>
    </html>`
  return page.markup
    .replace(/<style>\s+/, '<style>')
    .replace(/\s+<\/style>/, '</style>')
    .replace(/<script>\s+/, '<script>')
    .replace(/\s+<\/script>/, '</script>')
}

/** Markup without the indentation of its source. */
function shortHtml({ markup }: Html): Html {
  return { markup: markup.replaceAll(/\s+/g, ' ') }
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
