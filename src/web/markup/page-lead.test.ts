import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { msOf } from '../../protocol/moment.ts'
import { amountHtml, headlineAmount } from './amount-html.ts'
import { html } from './html.ts'
import { stateChip } from './kind-words.ts'
import {
  cellMoment,
  clockMoment,
  dayOf,
  momentOf,
  monthHtml,
  nearDay,
  nearMoment,
  untilMoment,
} from './moment-html.ts'
import { linkPreviewText, DESCRIPTION_CHARS_MAX, leadOf, plainText } from './page-lead.ts'

suite('the first text of a page', () => {
  test('is its lead, or else the first paragraph without a class', () => {
    assert.equal(
      leadOf(
        html`<p>First.</p>
          <p class="lead" data-at="/x">The <b>lead</b>.</p>`,
      ),
      'The lead.',
    )
    assert.equal(
      leadOf(
        html`<p class="quiet">Aside.</p>
          <p data-at="/x">First.<br />Second.</p>`,
      ),
      'First. Second.',
    )
    assert.equal(leadOf(html`<h2>No paragraph</h2>`), null)
    assert.equal(
      leadOf(
        html`<pre>code</pre>
          <svg>
            <path d="M0 0" />
            <text>7</text>
          </svg>
          <p>First.</p>`,
      ),
      'First.',
    )
  })

  test('starts with the warning, if there is one', () => {
    const page = html`<p class="banner warn" role="note">Gone. <a data-json href="/x">JSON</a></p>
      <p class="lead">It was.</p>`
    assert.equal(leadOf(page), 'Gone. It was.')
  })

  test('has the verdict as a sentence before the lead', () => {
    const page = html`<p class="say">46% is paid</p>
      <p class="lead">The winner waits.</p>`
    assert.equal(leadOf(page), '46% is paid. The winner waits.')
  })

  test('has the chip of a state as a sentence of its own', () => {
    assert.equal(plainText(html`${stateChip('paying')} All of it.`), 'Paying. All of it.')
  })

  test('has amounts as short as the page shows them', () => {
    assert.equal(plainText(html`${amountHtml('6043.059569309')} KOTS`), '6,043 KOTS')
    assert.equal(plainText(html`${headlineAmount('5836509.129572849')} KOTS`), '5.83 million KOTS')
  })

  test('has the full date of each moment, for a preview is read later', () => {
    const at = '2026-11-22T03:49:13.233Z'
    const page = { now: msOf(Date.parse('2026-11-22T02:00:00.000Z')), past: false }
    for (const moment of [
      momentOf(at),
      nearMoment(at, page),
      clockMoment(at, page),
      cellMoment(at, page),
      untilMoment(at, page),
    ]) {
      assert.equal(plainText(html`Waits until ${moment}.`), 'Waits until 22 Nov 2026 03:49 UTC.')
    }
    const both = html`Opens <b>${clockMoment(at, page)}</b>, <span>${untilMoment(at, page)}</span>.`
    assert.equal(plainText(both), 'Opens 22 Nov 2026 03:49 UTC.')
    const { weekday, date } = nearDay(at, page)
    for (const day of [dayOf(at), weekday, date])
      assert.equal(plainText(html`Paid on ${day}.`), 'Paid on 22 Nov 2026.')
    assert.equal(plainText(html`Paid in ${monthHtml('2026-11')}.`), 'Paid in November 2026.')
  })

  test('is the original text, for any text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const words = `X${text}`.replaceAll(/\s+/g, ' ').trim()
        assert.equal(plainText(html`<p>X${text}</p>`), words)
      }),
    )
  })
})

suite('a link preview', () => {
  test('is at most 300 characters, and ends with a whole word', () => {
    const words = fc.array(fc.stringMatching(/^[a-z0-9.]{1,40}$/), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(words, fc.boolean(), (all, simulated) => {
        const described = linkPreviewText(all.join(' '), simulated)
        assert.ok(described.length <= DESCRIPTION_CHARS_MAX)
        const said = described.replace('A simulated platform, no real money. ', '').replace(/…$/, '')
        assert.deepEqual(said.split(' '), all.slice(0, said.split(' ').length))
      }),
    )
  })

  test('cuts a word that is too long alone, but not within a character', () => {
    for (const word of ['x'.repeat(400), '😀'.repeat(200), `x${'😀'.repeat(200)}`]) {
      for (const said of [linkPreviewText(word, false), linkPreviewText(word, true)]) {
        assert.ok(said.length <= DESCRIPTION_CHARS_MAX)
        assert.ok(said.length > DESCRIPTION_CHARS_MAX - 3)
        assert.ok(said.isWellFormed())
      }
    }
  })
})
