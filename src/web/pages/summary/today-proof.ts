import { nounOf } from '../../../protocol/amount.ts'
import type { View } from '../../frame/page.ts'
import { ENDPOINT_PATHS } from '../../../protocol/paths.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'

/** Strip about the proof: the root of the signed checkpoint, and the way to check it. */
export async function proofStrip(view: View): Promise<Html | null> {
  const reply = await view.ask('logCheckpoint')
  const [, size = '', root = ''] = reply.ok ? reply.value.answer.split('\n') : []
  const lines = Number(size)
  if (!(lines > 0)) return null
  const at = `${ENDPOINT_PATHS.logCheckpoint}#`
  return html`<section class="proof">
    <div>
      <h2>Every event is signed. Check it yourself.</h2>
      <p data-at="${at}/1">
        One root hash covers ${lines === 1 ? null : 'all '}${countHtml(lines)} ${nounOf(lines, 'event')}.
        Changing, removing or inserting an event changes that hash.
      </p>
    </div>
    <code class="id" data-at="${at}/2">${root}</code>
    ${view.paths.has('/verify') ? html`<a class="button main" href="/verify?seq=${lines}">Check the newest event</a>` : null}
  </section>`
}
