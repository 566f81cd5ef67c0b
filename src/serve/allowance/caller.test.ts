import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { callerOf, type Network, parseNetworks, UNKNOWN_CALLER } from './caller.ts'

const PROXY = '10.1.2.3'

function networks(text: string) {
  const result = parseNetworks(text)
  assert.ok(result.ok)
  return result.value
}

/** The caller of a request from a peer, with this X-Forwarded-For. */
function callerKey(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Network[],
): string {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return callerOf({ headers, socket: { remoteAddress: peer } }, trusted)
}

const TRUSTED = networks('10.0.0.0/8, 192.168.7.9, 2001:db8:ffff::/48')

suite('a caller', () => {
  const direct: readonly (readonly [string, string | undefined, string])[] = [
    ['is known by its IPv4 address', '203.0.113.9', '203.0.113.9'],
    ['is known by IPv4 when its address is IPv4-mapped', '::ffff:203.0.113.9', '203.0.113.9'],
    ['is known by IPv4 when its mapped address is written in hex', '::FFFF:cb00:7109', '203.0.113.9'],
    ['is known by IPv4 when it comes through NAT64', '64:ff9b::203.0.113.9', '203.0.113.9'],
    ['is known by its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['is known by its /64 in any notation', '2001:0DB8:0001:0002:0:0:0:1', '2001:db8:1:2::/64'],
    ['is known by its /64 without the zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['without an address shares a key with its like', undefined, UNKNOWN_CALLER],
    ['with an unreadable address shares a key with its like', 'no:address', UNKNOWN_CALLER],
  ]
  for (const [name, peer, key] of direct) test(name, () => assert.equal(callerKey(peer, undefined, []), key))

  test('is the same with and without trusted proxies if it is not one of them', () => {
    for (const [, peer, key] of direct) assert.equal(callerKey(peer, '198.51.100.1', TRUSTED), key)
  })

  const forwarded: readonly (readonly [string, string | undefined, string])[] = [
    ['is the hop that the proxy appended', '198.51.100.1', '198.51.100.1'],
    ['is the rightmost hop, whatever it claimed itself', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    [
      'is the rightmost hop that no proxy of ours is',
      '1.1.1.1,198.51.100.1 , 10.9.9.9,192.168.7.9',
      '198.51.100.1',
    ],
    ['is the proxy itself when nothing was forwarded', undefined, PROXY],
    ['is the proxy itself when the list is empty', '', PROXY],
    ['is the leftmost hop when all are ours', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['may come with a port', '198.51.100.1:4711', '198.51.100.1'],
    ['may come in brackets', '[2001:db8:1:2::5]', '2001:db8:1:2::/64'],
    ['may come in brackets with a port', '[2001:db8:1:2::5]:443', '2001:db8:1:2::/64'],
    ['may come with a zone id', 'fe80::5%en0', 'fe80:0:0:0::/64'],
    ['behind a trusted IPv6 proxy is the hop before it', '198.51.100.1, 2001:db8:ffff:1::7', '198.51.100.1'],
    [
      'behind a proxy written as IPv4-mapped is the hop before it',
      '198.51.100.1, ::ffff:10.0.0.5',
      '198.51.100.1',
    ],
  ]
  for (const [name, list, key] of forwarded) {
    test(`behind a trusted proxy ${name}`, () => {
      assert.equal(callerKey(PROXY, list, TRUSTED), key)
      assert.equal(callerKey(`::ffff:${PROXY}`, list, TRUSTED), key)
    })
  }
})

// Claims that a caller at 198.51.100.1 may send through a proxy that appends the address it sees.
suite('a caller cannot evade its allowance', () => {
  const claims = [
    '1.1.1.1',
    '127.0.0.1',
    '10.0.0.1',
    '10.0.0.1, 10.0.0.2',
    '::1',
    '::ffff:127.0.0.1',
    '[::1]:80',
    '1.2.3.4:99999',
    '999.1.1.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '127.1',
    'fe80::1%lo',
    'fe80::1%%',
    '[::1',
    '::1]',
    '"[::1]"',
    'for=1.1.1.1',
    'unknown',
    '_hidden',
    'localhost',
    '',
    ' ',
    ',',
    ',,,,',
    '\t1.1.1.1\t',
    '1.1.1.1;2.2.2.2',
    '1.1.1.1 2.2.2.2',
    '__proto__',
    '%00',
    'é'.repeat(40),
    'a'.repeat(5000),
    '1.1.1.1,'.repeat(600),
    '10.0.0.1,'.repeat(600),
  ]
  for (const claim of claims) {
    test(`by claiming ${JSON.stringify(claim.slice(0, 24))} (${claim.length} characters)`, () => {
      assert.equal(callerKey(PROXY, `${claim},198.51.100.1`, TRUSTED), '198.51.100.1')
      assert.equal(callerKey(PROXY, `${claim}, 198.51.100.1, 10.4.4.4`, TRUSTED), '198.51.100.1')
      assert.equal(callerKey('198.51.100.1', claim, TRUSTED), '198.51.100.1')
    })
  }

  test('by another header, or by a list that did not come through the proxy', () => {
    const names = [
      'forwarded',
      'x-real-ip',
      'true-client-ip',
      'cf-connecting-ip',
      'x-client-ip',
      'x-forwarded-for',
    ]
    for (const name of names) {
      const request = { headers: { [name]: '1.1.1.1' }, socket: { remoteAddress: '198.51.100.1' } }
      assert.equal(callerOf(request, TRUSTED), '198.51.100.1')
      assert.equal(callerOf(request, []), '198.51.100.1')
    }
  })

  test('by changing addresses within its /64', () => {
    const hex = fc.integer({ min: 0, max: 0xffff }).map((part) => part.toString(16))
    fc.assert(
      fc.property(fc.tuple(hex, hex, hex, hex), (parts) => {
        assert.equal(callerKey(`2001:db8:7:8:${parts.join(':')}`, undefined, []), '2001:db8:7:8::/64')
      }),
    )
  })

  test('by any text: a malformed hop counts for the proxy that reported it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        assert.equal(callerKey(PROXY, `${text},198.51.100.1`, TRUSTED), '198.51.100.1')
        assert.equal(callerKey(PROXY, `${text},no address`, TRUSTED), PROXY)
        assert.equal(callerKey(PROXY, `${text},no address,10.7.7.7`, TRUSTED), '10.7.7.7')
      }),
    )
    assert.equal(callerKey(PROXY, '198.51.100.7,no address', TRUSTED), PROXY)
  })

  test('by a chain of proxies longer than ours', () => {
    assert.equal(callerKey(PROXY, `1.1.1.1${',10.0.0.1'.repeat(600)}`, TRUSTED), '10.0.0.1')
  })
})

suite('the trusted proxies', () => {
  test('are none if the setting is empty', () => assert.deepEqual(networks(' '), []))

  test('are trusted by IPv4 when their range is IPv4-mapped', () => {
    assert.equal(callerKey(PROXY, '198.51.100.1', networks('::ffff:10.0.0.0/104')), '198.51.100.1')
  })

  test('are a thousand at most', () => {
    const ranges = (count: number): string => Array.from({ length: count }, () => '10.0.0.1').join()
    assert.equal(networks(ranges(1_000)).length, 1_000)
    const more = parseNetworks(ranges(1_001))
    assert.ok(!more.ok)
    assert.equal(more.problem.detail, 'trusted proxies: more than 1000 ranges')
  })

  const refusals: readonly (readonly [string, RegExp])[] = [
    ['10.0.0.0/33', /entry 1, "10\.0\.0\.0\/33", has a prefix longer than 32 bits/],
    ['2001:db8::/129', /longer than 128 bits/],
    ['10.0.0.1,10.1.2.3/8', /entry 2, .* 10\.0\.0\.0\/8 is the range, 10\.1\.2\.3\/32 the address/],
    ['2001:db8::1/32', /bits after its prefix/],
    ['0.0.0.0/0', /trusts every address/],
    ['::/0', /trusts every address/],
    ['::ffff:0.0.0.0/96', /trusts every address/],
    ['10.0.0.0/', /neither an address nor a range/],
    ['10.0.0.0/08', /neither an address nor a range/],
    ['10.0.0.0/8/8', /neither an address nor a range/],
    ['10.0/8', /neither an address nor a range/],
    ['loopback', /neither an address nor a range/],
    ['10.0.0.1,', /entry 2, "", is neither/],
    ['fe80::1%eth0', /neither an address nor a range/],
  ]
  for (const [text, detail] of refusals) {
    test(`are refused as ${JSON.stringify(text)}`, () => {
      const result = parseNetworks(text)
      assert.ok(!result.ok)
      assert.match(result.problem.detail, detail)
    })
  }
})
