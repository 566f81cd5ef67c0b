import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { CommanderError } from 'commander'
import { commandWith } from '../../../test/stage/command-stage.ts'
import { msOf } from '../../protocol/moment.ts'
import type { Site } from '../../web/markup/site.ts'
import { SITE_OPTIONS, siteOf, type SiteOptions } from './site-options.ts'

function siteFrom(...words: readonly string[]): Omit<Site, 'url'> {
  return siteOf(commandWith(SITE_OPTIONS).parse(words, { from: 'user' }).opts<SiteOptions>(), msOf(0))
}

suite('the address of the site', () => {
  const parse = (text: string): string | undefined =>
    commandWith(SITE_OPTIONS).parse(['--public-url', text], { from: 'user' }).opts<SiteOptions>().publicUrl

  for (const [text, as] of [
    ['https://data.example.org', 'https://data.example.org'],
    ['https://data.example.org/', 'https://data.example.org'],
    ['HTTP://Data.Example.org:8080', 'http://data.example.org:8080'],
  ] as const) {
    test(`is accepted, and loses a slash at its end: ${text}`, () => assert.equal(parse(text), as))
  }
  for (const text of [
    'data.example.org',
    'https://a.example/path',
    'https://u:p@a.example',
    'ftp://a.example',
    'x',
  ]) {
    test(`is refused when it is malformed: ${text}`, () => assert.throws(() => parse(text), CommanderError))
  }
})

suite('an address for links on the pages', () => {
  const written: readonly (readonly [which: 'licence' | 'contact', text: string, as: string])[] = [
    ['licence', 'https://licence.example', 'https://licence.example/'],
    ['licence', 'https://lizenz.example/für alle', 'https://lizenz.example/f%C3%BCr%20alle'],
    ['licence', 'https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['licence', 'https://licence.example/a>; rel="x"', 'https://licence.example/a%3E;%20rel=%22x%22'],
    ['licence', 'http://licence.example/?a>"b#c>"d', 'http://licence.example/?a%3E%22b#c%3E%22d'],
    ['contact', 'mailto:daybook@example.org', 'mailto:daybook@example.org'],
    ['contact', 'HTTPS://Example.org/write', 'https://example.org/write'],
  ]
  for (const [which, text, as] of written) {
    test(`is encoded as browsers encode it: ${text}`, () => {
      assert.equal(siteFrom(`--${which}`, text)[which], as)
    })
  }

  const refused: readonly (readonly [which: string, text: string])[] = [
    ['licence', 'https://licence.example/\r\nX: y'],
    ['licence', 'https://licence.example/\u0000'],
    ['licence', 'https://licence.example/\u0085'],
    ['licence', '\u001Fhttps://licence.example/'],
    ['licence', 'ftp://licence.example/'],
    ['licence', 'mailto:daybook@example.org'],
    ['licence', 'licence.example'],
    ['contact', 'mailto:daybook@example.org\n'],
    ['contact', 'javascript:alert(1)'],
    ['explorer', 'https://explorer.example/\u0001{tx}'],
  ]
  for (const [which, text] of refused) {
    test(`is refused: --${which} ${JSON.stringify(text)}`, () => {
      assert.throws(() => siteFrom(`--${which}`, text), CommanderError)
    })
  }
})

suite('the address of an explorer', () => {
  test('gives the host for the link text, and the address encoded as browsers encode it', () => {
    const { explorers } = siteFrom(
      '--explorer',
      'https://Bücher.example/tx/{tx}?of={tx}#{tx}',
      '--explorer',
      'https://other.example:8443/{tx}',
    )
    assert.deepEqual(explorers, [
      { host: 'xn--bcher-kva.example', template: 'https://xn--bcher-kva.example/tx/{tx}?of={tx}#{tx}' },
      { host: 'other.example:8443', template: 'https://other.example:8443/{tx}' },
    ])
  })

  for (const text of [
    'https://explorer.example/tx/',
    'https://{tx}.explorer.example/',
    'https://{tx}.explorer.example/{tx}',
    'https://{tx}@explorer.example/{tx}',
    'https://explorer.example:{tx}/{tx}',
    'https://explorer.example/{tx}/..',
    'http://explorer.example/{tx}',
    'https://explorer .example/{tx}',
    'https:{tx}',
  ]) {
    test(`is refused: ${text}`, () => assert.throws(() => siteFrom('--explorer', text), CommanderError))
  }
})
