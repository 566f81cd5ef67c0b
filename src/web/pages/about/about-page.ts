import { FRICTIONLESS_PATH } from '../../../protocol/paths.ts'
import { ADDRESS_PROMISE, GUARD_HOLDS, GUARD_LIMITS } from '../../../protocol/address-guard.ts'
import type { EventTypes, Status } from '../../../protocol/endpoints/description-endpoints.ts'
import type { Witnesses } from '../../../protocol/endpoints/file-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { type Html, html, jsonBlock } from '../../markup/html.ts'
import type { LinkedAnswer, Page, View } from '../../frame/page.ts'
import { PAGE_NOTICE } from '../../markup/site.ts'
import { FRICTIONLESS_LINK } from '../../frame/view-bar.ts'

/** `/about`: definitions of the words, the method, corrections and the types of events. */
export const aboutPage: Page<null> = {
  endpoint: null,
  path: '/about',
  title: (_, { site }) => `About ${site.name}`,
  head: (_, view) =>
    html`${FRICTIONLESS_LINK}${jsonBlock('application/ld+json', {
      '@context': 'https://schema.org/',
      '@type': 'DataCatalog',
      name: view.site.name,
      description: PAGE_NOTICE,
      url: `${view.site.url}/about`,
      isAccessibleForFree: true,
      dataset: { '@type': 'Dataset', name: 'Every event, by month', url: `${view.site.url}/archive` },
      ...(view.site.licence === null ? {} : { license: view.site.licence }),
    })}`,
  async render(_, view) {
    const status = await askEndpoint(view, 'status')
    const types = await askEndpoint(view, 'eventTypes')
    const witnesses = await askEndpoint(view, 'logWitnesses')
    return html`<p class="lead">
        The open book of a contest and prize platform: a public log of all its events, in order. Nothing is
        ever removed, and every figure is computed from the log.
      </p>
      <div class="two">
        <section>
          ${definitionsOf(witnesses.answer)} ${METHOD} ${guaranteesOf(status)} ${CORRECTIONS} ${ADDRESSES}
          ${typesOf(types.answer)}
        </section>
        ${asideOf(status, view)}
      </div>
      ${jsonLinks([
        ['the log', status],
        ['the types of events', types],
        ['the witnesses', witnesses],
      ])}`
  },
}

/** Facts beside the text: contents, further ways to the data, licence and contact, and the log's identity. */
function asideOf({ address, answer }: LinkedAnswer<Status>, view: View): Html {
  return html`<aside>
    <h2>On this page</h2>
    <ul class="links">
      ${CONTENTS.map(([id, label]) => html`<li><a href="#${id}">${label}</a></li>`)}
    </ul>
    <h2>For programs</h2>
    <p class="quiet">Anyone may read all of it, without a key. ${ADDRESS_PROMISE}</p>
    <ul class="links">
      <li><a href="/feed.atom">Atom feed of contests, corrections and rewards</a></li>
      <li><a href="${FRICTIONLESS_PATH}">Data Package: every file and column</a></li>
    </ul>
    ${termsOf(view)}
    <h2>Which log this is</h2>
    <p class="quiet" data-at="${address}#/origin ${address}#/log">
      <code>${answer.origin}</code>, id <code class="id">${answer.log}</code>
    </p>
    <p><a href="/verify">Check it for yourself</a></p>
  </aside>`
}

const CONTENTS: readonly (readonly [id: string, label: string])[] = [
  ['words', 'What the words mean'],
  ['method', 'How the figures are computed'],
  ['guarantees', 'What is enforced, and what the operator vouches for'],
  ['corrections', 'Mistakes'],
  ['addresses', 'Which wallet addresses are refused'],
  ['types', 'What is published'],
]

const TERMS: readonly (readonly [id: string, name: string, meaning: string])[] = [
  ['spent', 'Spent on play', 'All that players spent on entries, votes and other plays.'],
  [
    'paid',
    'Paid in prizes',
    'All payments to winners, each with its transaction. Refunds and loyalty rewards are counted apart.',
  ],
  ['burned', 'Burned', 'Tokens destroyed for good, all of them from the platform’s income.'],
  ['pool', 'Pool', 'What a contest has to give away. It stays there until it is won, refunded or returned.'],
  [
    'closed',
    'Settled',
    'The contest is over: every prize was paid or had expired, and its pool is empty. So it is with a cancelled contest. If a correction leaves a prize unpaid later, the page of the contest says so.',
  ],
  ['owed', 'Owed', 'All that was won: what is paid, what has expired and what is unpaid.'],
  ['unpaid', 'Unpaid', 'Won, not paid and not expired.'],
  [
    'expired',
    'Never claimed',
    'A prize that has expired: it can no longer be claimed. Its amount goes back to the treasury.',
  ],
  [
    'unlock',
    'Locked',
    'The prize may be paid from a moment that the operator published when the prize was won. This service shows the moment, and does not refuse an earlier payment.',
  ],
  [
    'hold',
    'In review',
    'The operator reviews the prize before paying it, until a published moment. This service shows the moment, and does not refuse an earlier payment.',
  ],
  ['claim', 'To be claimed', 'The operator pays some prizes only after the winner asks for them.'],
  ['payable', 'Payable', 'Neither locked nor in review, and not to be claimed: the operator can pay it now.'],
  ['treasury', 'Treasury', 'What the platform holds beside pools, unpaid prizes and the loyalty fund.'],
  ['loyalty', 'Loyalty fund', 'What is set aside for the monthly rewards to players.'],
  [
    'witness',
    'Witness',
    'An independent party that signs a state of the log only if it continues the one it signed before. If more than half must sign, the operator cannot show two logs unless witnesses help.',
  ],
  [
    'as-of',
    'As of',
    'The last event that a figure counts. The same question up to the same event always has the same answer.',
  ],
]

function definitionsOf({ quorum }: Witnesses): Html {
  return html`<h2 id="words">What the words mean</h2>
    <dl class="terms">
      ${TERMS.map(
        ([id, name, meaning]) =>
          html`<dt id="${id}">${name}</dt>
            <dd>${meaning}${id === 'witness' && quorum === null ? ' This log has no witnesses.' : null}</dd>`,
      )}
    </dl>`
}

const METHOD = html`<h2 id="method">How the figures are computed</h2>
  <p>
    The books are kept by double entry: each amount leaves one account and reaches one other, and all accounts
    together are zero at every moment: <a href="/flows#balance">the balance sheet</a> shows that they add up.
    Every figure is computed from the events alone, in whole billionths and never in floating point. So anyone
    can compute it again from the <a href="/archive">files of the archive</a>.
  </p>
  <p>
    An event has the moment of its publication, in UTC. The first event after the end of a day, a week or a
    month closes it; from then on it never changes.
  </p>
  <p>
    A page shows what the API answers, and nothing else. Put <code>/api/v1</code> before the path of a page to
    get its JSON.
  </p>`

const GUARANTEES = html`<h2 id="guarantees">What is enforced, and what the operator vouches for</h2>
  <p>
    This service keeps the order of events, changes and removes none, and signs them as a whole. It refuses an
    event that does not fit the state of its contest, and one that would take a balance below zero, unless the
    operator has chosen to publish such events all the same.
  </p>`

const LOOKED_UP = `Every payment names its transaction, so anyone can look it up in a public explorer.`

/** Rules that are enforced in this log, and facts that the operator vouches for. */
function guaranteesOf({ address, answer }: LinkedAnswer<Status>): Html {
  const { asked, vouched } = answer.finality
  const events = vouched === 1 ? 'event was' : 'events were'
  const count = html`<span data-at="${address}#/finality/vouched">${countHtml(vouched)}</span>`
  const finality = asked
    ? html`<p>
          This service asks the blockchain about every transaction that the operator names, and publishes the
          event when the blockchain says that the transaction is final. It does not publish a transaction that
          failed. It did not ask about imported events, or about events published before it began to ask. The
          operator vouches for those, and for the truth of every event. ${count} ${events} published on the
          operator’s word instead of the blockchain’s. ${LOOKED_UP}
        </p>
        <p><a href="/status">What waits for the blockchain now</a></p>`
    : html`<p>
          The operator vouches that an event is true, and that its transaction was final on the blockchain
          when it was published. This service does not ask the blockchain. ${LOOKED_UP}
        </p>
        ${
          vouched === 0
            ? null
            : html`<p>
                ${count} ${events} published on the operator’s word after waiting for the blockchain’s.
              </p>`
        }`
  return html`${GUARANTEES} ${finality}`
}

const ADDRESSES = html`<section data-chrome>
  <h2 id="addresses">Which wallet addresses are refused</h2>
  <p>${GUARD_HOLDS}</p>
  <p>${GUARD_LIMITS}</p>
</section>`

const CORRECTIONS = html`<h2 id="corrections">Mistakes</h2>
  <p>
    A mistake is corrected by a further event, a correction. It cancels one earlier event in full and counts
    at its own moment. The right value, if there is one, follows as an ordinary event. So the figures as of a
    past moment never change.
    <a href="/events?type=correction">See every correction</a>.
  </p>`

function typesOf({ types }: EventTypes): Html {
  return html`<h2 id="types">What is published</h2>
    <ul class="columns">
      ${types.map(({ type }) => html`<li><a href="/events?type=${type}">${type}</a></li>`)}
    </ul>`
}

function termsOf({ site }: View): Html | null {
  if (site.licence === null && site.contact === null) return null
  return html`<h2 id="licence">Licence and contact</h2>
    <p class="quiet">
      ${
        site.licence === null
          ? 'The operator has not stated a licence for the data.'
          : html`The data is published under <a rel="license" href="${site.licence}">this licence</a>.`
      }
      ${site.contact === null ? null : html`Questions and corrections: <a href="${site.contact}">write to the operator</a>.`}
    </p>`
}
