import { whole } from '../../../protocol/parameters.ts'
import { countHtml, eventLink } from '../../markup/amount-html.ts'
import type { LogKeys, Witnesses } from '../../../protocol/endpoints/file-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment, momentOf } from '../../markup/moment-html.ts'
import type { LinkedAnswer, Page, View } from '../../frame/page.ts'
import { codeBlock } from '../../frame/view-bar.ts'
import { VERIFIER_PATH } from './verifier.ts'
import { NOT_PROVED, verifyForm } from './verify-form.ts'
import { nounOf } from '../../../protocol/amount.ts'
import type { WITNESS_STATES } from '../../../protocol/enumerations.ts'
import { vouchersOf } from '../status/witness-line.ts'

/** `/verify`: checks that run in the reader's browser. */
export const verifyPage: Page<null> = {
  endpoint: null,
  path: '/verify',
  island: 'verify',
  parameters: [
    {
      name: 'seq',
      form: whole(1, Number.MAX_SAFE_INTEGER),
      absent: 'the newest event',
      meaning: 'The event to check',
      example: '1',
    },
  ],
  title: () => 'Is anything hidden or changed?',
  async render(_, view) {
    const summary = await askEndpoint(view, 'summary')
    const keys = await askEndpoint(view, 'logKeys')
    const witnesses = await askEndpoint(view, 'logWitnesses')
    const { seq, at } = summary.answer.asOf
    const asked = view.query.integer('seq')
    const newest =
      at === null
        ? html`<p>Nothing has been published yet.</p>`
        : html`<p data-at="${summary.address}#/asOf/seq ${summary.address}#/asOf/at">
            The newest event is ${eventLink(seq)}, of ${momentOf(at)}.
          </p>`
    return html`<p class="lead">
        Each signature covers all events before it. If an event is changed, removed or inserted, every later
        signature shows it. Your browser does the calculations.
      </p>
      <div class="two">
        <section data-chrome>
          ${verifyForm({
            seq: asked ?? (seq === 0 ? null : seq),
            isAsked: asked !== undefined,
            explorers: view.site.explorers,
            worker: view.assets.path('verify-worker.js'),
            base: null,
            asksChain: false,
            otherwise: WITHOUT,
          })}
        </section>
        <aside>
          <h2>Do not trust this page?</h2>
          <p>
            You are right: a page is only as honest as the server that sends it. Save the verifier, read it,
            and run it from your own disk, today and at every later visit. It is one file, and asks only the
            log and the servers of a blockchain that you name.
          </p>
          <p><a class="button" href="${VERIFIER_PATH}" download>Save this verifier</a></p>
          ${newest} ${keysOf(view, keys)} ${witnessesOf(view, witnesses)}
          ${jsonLinks([
            ['the newest event', summary],
            ['the keys', keys],
            ['the witnesses', witnesses],
          ])}
        </aside>
      </div>
      <section data-chrome>${NOT_PROVED} ${commands(view, keys.answer)}</section>`
  },
}

const WITHOUT = html`<p>
  These checks need JavaScript. <a href="#by-command">The commands below</a> check the same.
</p>`

/** The same checks without a browser. */
function commands(view: View, { keys }: LogKeys): Html {
  const base = view.site.url
  const vkey = keys.find(({ state }) => state === 'signing')?.vkey ?? ''
  return html`<h2>Without a browser</h2>
    <h3 id="by-command">With the command line</h3>
    <p>
      It reads the whole log, asks for every figure, and computes everything again. The command is part of the
      program of this service: run it in a clone, after <code>npm ci</code>.
    </p>
    <p>
      Compare the log’s key with another source first. Then save it in a file named <code>vkey</code>, as the
      first line does.
    </p>
    ${codeBlock(
      'Command to verify',
      `echo '${vkey}' > vkey\nnpm run -s daybook -- verify ${base} --key "$(cat vkey)" --save checkpoints`,
    )}
    ${chainSection(view)}
    <h3>With nothing but curl and openssl</h3>
    <p>
      This checks the signature of the newest checkpoint. The file <code>vkey</code> holds the log’s key, as
      above.
    </p>
    ${codeBlock('Recipe with openssl', `curl -sf ${base}/api/v1/log/checkpoint > checkpoint\n${RECIPE}`)}`
}

/** Command that asks the blockchain; null for a log that does not name its chain. */
function chainSection({ identity, site }: View): Html | null {
  if (identity.chain === 'opaque') return null
  return html`<h3 id="by-blockchain">Against the blockchain</h3>
    <p>
      This also asks servers of your choice about 300 random transactions of the log and the 20 with the
      largest payments. It proves that they exist, succeeded and are final, and says how likely it is that a
      false one was missed. With <code>--payer</code> and <code>--token</code> it compares the amounts too.
    </p>
    ${identity.simulated ? html`<p>The transactions of this log are invented: no real blockchain has them.</p>` : null}
    ${codeBlock(
      'Command to ask the blockchain',
      `npm run -s daybook -- verify ${site.url} --chain ${identity.chain}=https://rpc.example.org`,
    )}`
}

/** Keys from this server, for comparison with other sources. By themselves they prove nothing. */
function keysOf({ site }: View, { address, answer }: LinkedAnswer<LogKeys>): Html {
  const contact = site.contact === null ? 'the operator' : html`<a href="${site.contact}">the operator</a>`
  return html`<h3>Is it the right key?</h3>
    <p>
      The log’s name is <code class="id" data-at="${address}#/origin">${answer.origin}</code>. Its
      <a href="/api/v1/log/keys">key</a>, according to this server:
    </p>
    <ul>
      ${answer.keys.map(
        ({ vkey, state }, index) =>
          html`<li data-at="${address}#/keys/${index}/vkey">
            <code class="id">${vkey}</code>${state === 'retired' ? ', which no longer signs' : null}
          </li>`,
      )}
    </ul>
    <p>
      Ask ${contact} where else the key is published, outside the control of this server, and compare it
      letter by letter.
    </p>`
}

const STATES: Readonly<Record<(typeof WITNESS_STATES)[number], string>> = {
  cosigning: 'signs',
  silent: 'does not answer',
  refusing: 'refuses to sign',
  unasked: 'not asked yet',
}

/**
 * Witnesses from this server: their names and states, and since when a quorum vouches. By itself the list proves
 * little.
 */
function witnessesOf(view: View, witnesses: LinkedAnswer<Witnesses>): Html {
  const heading = html`<h3 id="witnesses">Who else vouches for it?</h3>`
  const { address, answer } = witnesses
  const { quorum, witnessed } = answer
  const about = html`<a href="/about#witness">What witnesses are</a>`
  if (quorum === null)
    return html`${heading}
      <p>
        This log has no witnesses: only its operator says that every reader is shown the same events.
        ${about}.
      </p>`
  const so =
    witnessed === null
      ? html`<p>No quorum of its witnesses vouches for the log yet. ${about}.</p>`
      : html`<p>
          ${vouchersOf(witnesses)} for
          <span data-at="${address}#/witnessed/seq">${countHtml(witnessed.seq)}</span>
          ${nounOf(witnessed.seq, 'event')}, as of
          <span data-at="${address}#/witnessed/at">${clockMoment(witnessed.at, view)}</span>. ${about}.
        </p>`
  return html`${heading} ${so}
    <ul data-list="${address}#/witnesses" data-fields="name state seq at">
      ${answer.witnesses.map(
        ({ name, state, seq, at }) =>
          html`<li>
            <code class="id">${name}</code> <span data-state="${state}">${STATES[state]}</span>${
              seq === null || at === null
                ? null
                : html`, last ${countHtml(seq)} ${nounOf(seq, 'event')}, ${clockMoment(at, view)}`
            }
          </li>`,
      )}
    </ul>
    <p>
      <span data-at="${address}#/quorum">${countHtml(quorum)}</span> must agree. This is the log’s own list.
      Choose witnesses whom you trust, and get their keys from them.
    </p>`
}

const RECIPE = String.raw`sed '/^$/,$d' checkpoint > text
sed -n 's/^— [^ ]* //p' checkpoint | head -n 1 | base64 -d | tail -c 64 > signature
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'
  sed 's/^[^+]*+[^+]*+//' vkey | base64 -d | tail -c 32; } > key.der
openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in text -sigfile signature`
