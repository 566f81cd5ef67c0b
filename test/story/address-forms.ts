import { base58, bech32, bech32m } from '@scure/base'
import * as fc from 'fast-check'
import {
  algorandOf,
  base36Of,
  base58CheckOf,
  byronOf,
  type Bytes,
  cashaddrOf,
  confluxOf,
  decredOf,
  eip55Of,
  ergoOf,
  filecoinOf,
  icapOf,
  moneroOf,
  nanoOf,
  principalOf,
  ss58Of,
  stacksOf,
  stellarOf,
  wavesOf,
  xrpOf,
} from './address-encodings.ts'

/** A form of address, and random addresses of it. */
export type AddressForm = Readonly<{ name: string; addresses: fc.Arbitrary<string> }>

/** Bytes of a length. */
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
/** Addresses of random bytes. */
export const form = (name: string, length: number, encode: (payload: Uint8Array) => string): AddressForm => ({
  name,
  addresses: bytes(length).map(encode),
})
const inCapitals = ({ name, addresses }: AddressForm): AddressForm => ({
  name: `${name}, in capitals`,
  addresses: addresses.map((address) => address.toUpperCase()),
})
const inSmallLetters = ({ name, addresses }: AddressForm): AddressForm => ({
  name: `${name}, in small letters`,
  addresses: addresses.map((address) => address.toLowerCase()),
})

/** First bytes of the addresses of networks with Base58Check. */
const NETWORKS: Readonly<Record<string, readonly Bytes[]>> = {
  Bitcoin: [[0x00], [0x05], [0x6f], [0xc4]],
  Litecoin: [[0x30], [0x32], [0x3a]],
  Dogecoin: [[0x1e], [0x16], [0x71]],
  Dash: [[0x4c], [0x10], [0x8c], [0x13]],
  TRON: [[0x41], [0xa0]],
  Neo: [[0x17], [0x35]],
  Qtum: [[0x3a], [0x32], [0x78]],
  'Bitcoin Gold': [[0x26], [0x17]],
  Ravencoin: [[0x3c], [0x7a]],
  DigiByte: [[0x1e], [0x3f]],
  'another network': [[0x21], [0x33], [0x37]],
  Vertcoin: [[0x47]],
  Namecoin: [[0x34], [0x0d]],
  Firo: [[0x52], [0x07]],
  Peercoin: [[0x37], [0x75]],
  Komodo: [[0x3c], [0x55]],
  Liquid: [[0x39], [0x27]],
  Horizen: ['2089', '2096'].map((head) => Buffer.from(head, 'hex')),
  Zcash: ['1cb8', '1cba', '1cbd', '1d25'].map((head) => Buffer.from(head, 'hex')),
  Tezos: ['06a19f', '06a1a1', '06a1a4', '06a1a6', '025a79'].map((head) => Buffer.from(head, 'hex')),
}
/** First bytes of extended keys: xpub and xprv, and the same of test networks and of segregated witness. */
const EXTENDED_KEYS =
  '0488b21e 0488ade4 043587cf 04358394 049d7cb2 04b24746 044a5262 045f1cf6 0295b43f 02aa7ed3 024289ef 02575483'
    .split(' ')
    .map((head) => Buffer.from(head, 'hex'))

const BASE58CHECK_FORMS: readonly AddressForm[] = [
  ...Object.entries(NETWORKS).flatMap(([network, heads]) =>
    heads.map((head) => form(`${network} ${head.join(' ')}`, 20, (key) => base58CheckOf(head, key))),
  ),
  ...[0x27, 0x39].map((head) =>
    form(`a confidential address of Liquid ${head}`, 52, (keys) => base58CheckOf([0x0c, head, 2], keys)),
  ),
  form('Sprout of Zcash', 64, (keys) => base58CheckOf([0x16, 0x9a], keys)),
  ...EXTENDED_KEYS.map((head) => form('an extended key', 74, (key) => base58CheckOf(head, key))),
]
const PRIVATE_KEY_FORMS: readonly AddressForm[] = [0x80, 0xef, 0xb0, 0x9e, 0xcc].flatMap((head) => [
  form(`a private key ${head}`, 32, (key) => base58CheckOf([head], key)),
  form(`a compressed private key ${head}`, 32, (key) => base58CheckOf([head], [...key, 1])),
])

/** Networks whose version is not listed: found as words and as groups. */
const UNLISTED_FORMS: readonly AddressForm[] = [
  form('Mina', 33, (key) => base58CheckOf([0xcb, 1, 1], [...key.subarray(1), (key[0] ?? 0) & 1])),
  form('Aeternity, without its prefix', 32, (key) => base58CheckOf([], key)),
  form('Helium', 32, (key) => base58CheckOf([0, 1], key)),
  form('a network with a version of four bytes', 20, (key) => base58CheckOf([9, 8, 7, 6], key)),
]

/** Base58 with the checksum of another digest. */
const OTHER_DIGEST_FORMS: readonly AddressForm[] = [
  ...['W', 'T'].map((network) => form(`Waves ${network}`, 20, (key) => wavesOf(network, key))),
  ...['073f', '071f', '0701', '071a', '0f21', '0f01', '0ee3', '0efc'].map((version) =>
    form(`Decred ${version}`, 20, (key) => decredOf(Buffer.from(version, 'hex'), key)),
  ),
  ...[0, 16].flatMap((network) =>
    [2, 3].map((sign) => form(`Ergo ${network} ${sign}`, 32, (key) => ergoOf(network, sign, key))),
  ),
]

const XRP_SEEDS: readonly AddressForm[] = [
  form('an XRP seed', 16, (seed) => xrpOf([33], seed)),
  form('an XRP seed of Ed25519', 16, (seed) => xrpOf([0x01, 0xe1, 0x4b], seed)),
]
const XRP_FORMS: readonly AddressForm[] = [
  form('an XRP account', 20, (account) => xrpOf([0], account)),
  form('an X-address', 20, (account) => xrpOf([5, 0x44], [...account, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
  form('an X-address with a tag', 20, (account) =>
    xrpOf([5, 0x44], [...account, 1, 42, 7, 0, 0, 0, 0, 0, 0]),
  ),
  form('an X-address for tests', 20, (account) => xrpOf([4, 0x93], [...account, 1, 9, 9, 9, 9, 0, 0, 0, 0])),
]

/** Attributes of a Byron address: the derivation path that Daedalus encrypts, and the number of the test network. */
const PATH = [0x01, 0x58, 0x1e, 0x58, 0x1c]
const TEST_NETWORK = [0x02, 0x45, 0x1a, 0x41, 0x70, 0xcb, 0x17]
const ROOT = [0x83, 0x58, 0x1c]
const BYRON_FORMS: readonly AddressForm[] = [
  form('Icarus', 28, (root) => byronOf([...ROOT, ...root, 0xa0, 0])),
  form('Icarus for tests', 28, (root) => byronOf([...ROOT, ...root, 0xa1, ...TEST_NETWORK, 0])),
  form('Daedalus', 56, (both) =>
    byronOf([...ROOT, ...both.subarray(0, 28), 0xa1, ...PATH, ...both.subarray(28), 0]),
  ),
  form('Daedalus for tests', 56, (both) =>
    byronOf([...ROOT, ...both.subarray(0, 28), 0xa2, ...PATH, ...both.subarray(28), ...TEST_NETWORK, 0]),
  ),
]

/** Monero addresses, subaddresses and integrated addresses of the main, the test and the stage network. */
const MONERO_FORMS: readonly AddressForm[] = [
  ...[18, 53, 24, 42, 63, 36].map((network) =>
    form(`Monero ${network}`, 64, (keys) => moneroOf(network, keys)),
  ),
  ...[19, 54, 25].map((network) => form(`Monero ${network}`, 72, (keys) => moneroOf(network, keys))),
]

/** The first letter of a Stellar address is the high part of its version byte. */
const versionOf = (letter: string) => (letter.charCodeAt(0) - 65) << 3
const STELLAR_FORMS: readonly AddressForm[] = [
  ...Array.from('GCSTX', (letter) =>
    form(`Stellar ${letter}`, 32, (key) => stellarOf(versionOf(letter), key)),
  ),
  form('Stellar M', 40, (key) => stellarOf(versionOf('M'), key)),
]
const ALGORAND = form('Algorand', 32, algorandOf)

const FILECOIN_FORMS: readonly AddressForm[] = [
  form('Filecoin, a key', 20, (key) => filecoinOf('f1', [1], key)),
  form('Filecoin, an actor', 20, (actor) => filecoinOf('f2', [2], actor)),
  form('Filecoin, a key of BLS', 48, (key) => filecoinOf('f3', [3], key)),
  form('Filecoin, a key for tests', 20, (key) => filecoinOf('t1', [1], key)),
  form('Filecoin, an address of Ethereum', 20, (address) => filecoinOf('f410f', [4, 10], address)),
  form('Filecoin, actor 127', 20, (name) => filecoinOf('f4127f', [4, 127], name)),
  form('Filecoin, actor 128', 20, (name) => filecoinOf('f4128f', [4, 0x80, 0x01], name)),
  form('Filecoin, actor 20,000', 20, (name) => filecoinOf('f420000f', [4, 0xa0, 0x9c, 0x01], name)),
  form('Filecoin, a name of 54 bytes', 54, (name) => filecoinOf('f410f', [4, 10], name)),
  form('Filecoin, a name of ten bytes', 10, (name) => filecoinOf('f410f', [4, 10], name)),
]

/** Sizes of a cashaddr hash in bytes, by the low bits of its version. The four bits before are its type. */
const HASH_BYTES = [20, 24, 28, 32, 40, 48, 56, 64] as const
const CASHADDR_FORMS: readonly AddressForm[] = [
  ...['bitcoincash', 'bchtest', 'bchreg', 'simpleledger', 'ecash', 'etoken', 'ectest'].map((prefix) =>
    form(`cashaddr without its prefix ${prefix}`, 20, (hash) => cashaddrOf(prefix, 0, hash)),
  ),
  ...HASH_BYTES.map((length, size) =>
    form(`cashaddr of ${length} bytes`, length, (hash) => cashaddrOf('bchtest', 8 | size, hash)),
  ),
  form('cashaddr of the last type', 64, (hash) => cashaddrOf('bitcoincash', 0x7f, hash)),
]
const KASPA_FORMS: readonly AddressForm[] = ['kaspa', 'kaspatest'].flatMap((prefix) => [
  form(`a key of ${prefix}`, 32, (key) => cashaddrOf(prefix, 0, key)),
  form(`a longer key of ${prefix}`, 33, (key) => cashaddrOf(prefix, 1, key)),
  form(`a script of ${prefix}`, 32, (digest) => cashaddrOf(prefix, 8, digest)),
])
const CONFLUX_FORMS: readonly AddressForm[] = ['cfx', 'cfxtest'].map((prefix) =>
  form(`Conflux without its prefix ${prefix}`, 20, (address) => confluxOf(prefix, address)),
)
const NANO: AddressForm = form('nano without its prefix', 32, nanoOf)
const STACKS_FORMS: readonly AddressForm[] = [
  ...Array.from('PMTN', (letter) => form(`Stacks ${letter}`, 20, (digest) => stacksOf(letter, digest))),
  form('Stacks after zeros', 18, (digest) => stacksOf('P', Uint8Array.from([0, 0, ...digest]))),
  form('Stacks of 36 characters', 17, (digest) => stacksOf('P', Uint8Array.from([0, 0, 1, ...digest]))),
]
const PRINCIPAL: AddressForm = form('a principal', 28, (digest) => principalOf(digest))
const CASELESS_FORMS: readonly AddressForm[] = [...KASPA_FORMS, ...CONFLUX_FORMS, NANO]
const PREFIXED_CASHADDR: readonly AddressForm[] = ['bitcoincash', 'a', 'z', 'x'.repeat(24)].map((prefix) =>
  form(`cashaddr after ${prefix}`, 32, (hash) => `${prefix}:${cashaddrOf(prefix, 3, hash)}`),
)

/** Prefixes of bech32: letters, digits and underscores, up to 24. */
const BECH32_PREFIXES = [
  'a',
  'z',
  'npub',
  'c09',
  'addr_test',
  'stake_test',
  'account_rdx',
  'resource_rdx',
  'account_tdx_2_',
  'az'.repeat(12),
]
const BECH32_FORMS: readonly AddressForm[] = BECH32_PREFIXES.flatMap((prefix) => [
  form(`bech32 after ${prefix}`, 20, (hash) => bech32.encode(prefix, bech32.toWords(hash), false)),
  form(`bech32m after ${prefix}`, 32, (hash) => bech32m.encode(prefix, bech32.toWords(hash), false)),
])

/** Forms whose checksum is proof for whole words and for groups of mixed form. */
export const SHORT_FORMS: readonly AddressForm[] = [
  ...[[0], [1], [63], [64, 0], [100, 99], [127, 255]].map((network) =>
    form(`SS58 ${network.join(' ')}`, 32, (account) => ss58Of(network, account)),
  ),
  form('ICAP', 19, (address) => icapOf(base36Of(BigInt(`0x${address.toHex()}`), 30))),
  form('ICAP of 31 characters', 20, (address) => icapOf(base36Of(BigInt(`0x${address.toHex()}`), 31))),
]
const NAMED_ICAP: AddressForm = {
  name: 'ICAP with a name',
  addresses: fc.stringMatching(/^[0-9A-Z]{13}$/).map((name) => icapOf(`ETH${name}`)),
}
const EIP55 = form('EIP-55', 20, eip55Of)

/** Forms that are found anywhere, also inside a longer word: their checksum is long. */
export const ANYWHERE_FORMS: readonly AddressForm[] = [
  ...BASE58CHECK_FORMS,
  ...XRP_FORMS,
  ...BYRON_FORMS,
  ...MONERO_FORMS,
  ...STELLAR_FORMS,
  ...STELLAR_FORMS.map(inSmallLetters),
  ALGORAND,
  inSmallLetters(ALGORAND),
  ...FILECOIN_FORMS,
  ...FILECOIN_FORMS.map(inCapitals),
  ...CASHADDR_FORMS,
  ...CASHADDR_FORMS.map(inCapitals),
  ...BECH32_FORMS,
  ...BECH32_FORMS.map(inCapitals),
  NAMED_ICAP,
  inSmallLetters(NAMED_ICAP),
  EIP55,
  ...OTHER_DIGEST_FORMS,
  ...CASELESS_FORMS,
  ...CASELESS_FORMS.map(inCapitals),
  ...STACKS_FORMS,
  ...STACKS_FORMS.map(inSmallLetters),
]

/** Forms that are found as words and in groups. */
export const GROUPED_FORMS: readonly AddressForm[] = [
  ...ANYWHERE_FORMS,
  ...UNLISTED_FORMS,
  ...XRP_SEEDS,
  ...PRIVATE_KEY_FORMS,
  ...SHORT_FORMS,
  PRINCIPAL,
  inCapitals(PRINCIPAL),
]

/** Public keys of Solana and others, which have no checksum. */
export const KEY: AddressForm = form('a public key', 32, (key) => base58.encode(key))

/** Forms with a checksum: each is found as a word. */
export const FORMS: readonly AddressForm[] = [...GROUPED_FORMS, ...PREFIXED_CASHADDR]
