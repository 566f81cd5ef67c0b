import { base64url, bech32 } from '@scure/base'
import {
  algorandOf,
  base36Of,
  byronOf,
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
  tonOf,
  wavesOf,
  xrpOf,
} from './address-encodings.ts'
import { type AddressForm, form } from './address-forms.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** The text with the last digit of base32 made larger. */
const withSpareBits = (text: string, by: number) =>
  text.slice(0, -1) + BASE32.charAt(BASE32.indexOf(text.slice(-1)) + by)
/** The text with the case of its last letter changed. */
const withOtherCase = (text: string) =>
  text.replace(/[a-z](?=[^a-z]*$)/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
const G = 6 << 3
const ROOT = [0x83, 0x58, 0x1c]

/** Texts with a true checksum, in forms that no address has. */
export const NEAR_MISSES: readonly AddressForm[] = [
  ...[[64], [127], [128], [255], [63, 1], [128, 0], [255, 1], [64, 0, 0], []].map((network) =>
    form(`SS58 with the network ${network.join(' ')}`, 32, (account) => ss58Of(network, account)),
  ),
  form('ICAP of a number of 161 bits', 20, (address) =>
    icapOf(base36Of((1n << 160n) + (BigInt(`0x${address.toHex()}`) >> 4n), 31)),
  ),
  form('ICAP of 29 characters', 18, (address) => icapOf(base36Of(BigInt(`0x${address.toHex()}`), 29))),
  form('Stellar with an unknown letter', 32, (key) => stellarOf(1 << 3, key)),
  form('Stellar with a version that ends in one', 32, (key) => stellarOf(G | 1, key)),
  form('Stellar with a version that ends in four', 32, (key) => stellarOf(G | 4, key)),
  form('Stellar of 31 bytes', 31, (key) => stellarOf(G, key)),
  ...[1, 2, 3].map((by) =>
    form(`Algorand with spare bits ${by}`, 32, (key) => withSpareBits(algorandOf(key), by)),
  ),
  form('Algorand of 31 bytes', 31, algorandOf),
  form('Filecoin of another protocol', 20, (key) => filecoinOf('f1', [2], key)),
  form('Filecoin of another actor', 20, (name) => filecoinOf('f410f', [4, 11], name)),
  form('Filecoin of no protocol', 20, (key) => filecoinOf('f5', [5], key)),
  form('Filecoin of no network', 20, (key) => filecoinOf('g1', [1], key)),
  form('cashaddr with the reserved bit', 20, (hash) => cashaddrOf('bitcoincash', 0x80, hash)),
  form('cashaddr with a size of other hashes', 24, (hash) => cashaddrOf('bitcoincash', 0, hash)),
  form('cashaddr without a prefix that is unknown', 20, (hash) => cashaddrOf('nexa', 0, hash)),
  form('cashaddr after another prefix', 20, (hash) => `nexa:${cashaddrOf('bitcoin', 0, hash)}`),
  form('bech32 of four digits and a checksum', 2, (hash) => bech32.encode('tb', bech32.toWords(hash))),
  ...[17, 20, 26, 37, 41, 43, 52, 55, 62, 64].map((network) =>
    form(`Monero with the network ${network}`, 64, (keys) => moneroOf(network, keys)),
  ),
  form('Monero of 65 bytes', 60, (keys) => moneroOf(18, keys)),
  form('an XRP account of 21 bytes', 21, (account) => xrpOf([0], account)),
  form('an X-address of no network', 29, (account) => xrpOf([5, 0x45], account)),
  ...[1, 254].map((chain) =>
    form(`TON of chain ${chain}`, 32, (key) => base64url.encode(tonOf(0x11, chain, key))),
  ),
  form('TON with an unknown tag', 32, (key) => base64url.encode(tonOf(0x12, 0, key))),
  form('Byron with another CBOR head', 28, (root) => byronOf([...ROOT, ...root, 0xa0, 0], 0x1b)),
  form('Byron with bytes after its payload', 28, (root) => byronOf([...ROOT, ...root, 0xa0, 0], 0x1a, 34)),
  form('Waves of another network', 20, (key) => wavesOf('X', key)),
  form('Decred with an unknown version', 20, (key) => decredOf([0x07, 0x40], key)),
  form('Ergo of another network', 32, (key) => ergoOf(32, 2, key)),
  form('Ergo of an unknown sign', 32, (key) => ergoOf(0, 4, key)),
  form('a principal of a programme', 28, (digest) => principalOf(digest, 1)),
  form('a principal of 28 bytes', 27, (digest) => principalOf(digest)),
  form('Stacks of another version', 20, (digest) => stacksOf('A', digest)),
  form('Stacks of 22 bytes', 22, (digest) => stacksOf('P', digest)),
  form('nano with a letter in the other case', 32, (key) => withOtherCase(nanoOf(key))),
  form('Kaspa of 20 bytes', 20, (key) => cashaddrOf('kaspa', 8, key)),
  form('Conflux of another prefix', 20, (address) => confluxOf('cfy', address)),
  form('EIP-55 with a letter in the other case', 20, (address) => withOtherCase(eip55Of(address))),
]
