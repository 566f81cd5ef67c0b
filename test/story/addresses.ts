import { base64, base64url, bech32, bech32m } from '@scure/base'
import * as fc from 'fast-check'
import { base58CheckOf, tonOf, xrpOf } from './address-encodings.ts'
import { GROUPED_FORMS } from './address-forms.ts'

/** A published address and its family. `proof` is what shows that it is one. */
type PublishedAddress = Readonly<{
  family: string
  address: string
  proof: 'checksum' | 'prefix' | 'length'
  source: string
}>

const row = (
  family: string,
  address: string,
  source: string,
  proof: PublishedAddress['proof'] = 'checksum',
) => ({ family, address, proof, source }) as const

/** Addresses of specifications and of the tests of wallets. None was made for this project. */
export const PUBLISHED: readonly PublishedAddress[] = [
  row('Solana', '11111111111111111111111111111111', 'the system programme', 'length'),
  row('Solana', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'the token programme', 'length'),
  row('Solana', 'Ho87cuS3aSRgUMCeMrV7uNCCWx6Fj2ytnufYQ1W7KCLr', 'blockchain_utils', 'length'),
  row('EVM', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'EIP-55', 'prefix'),
  row('EVM', '0xde709f2102306220921060314715629080e2fb77', 'EIP-55', 'prefix'),
  row('EVM without 0x', 'fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 'EIP-55'),
  row('EVM without 0x', 'D1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb', 'EIP-55'),
  row('Base58Check', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'the first block of Bitcoin'),
  row('Base58Check', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'the manual of Bitcoin'),
  row('Base58Check', 'mx6uP6SkwNgbVqwEaTqd7oRNuAJgit3ER6', 'blockchain_utils'),
  row('Base58Check', 'DRq8DVXBXNHTPyBctM1Wdx39wUxU47Fwyt', 'blockchain_utils, Dogecoin'),
  row('Base58Check', 'XnXBaoFQb6VwHUypKtSf66f1AX1L9pbPPS', 'blockchain_utils, Dash'),
  row('Base58Check', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'the token contract of Tether on TRON'),
  row('Base58Check', 't3UTk6K3icSd7Bwaxe6zt6ioCrYbYB8TJZj', 'blockchain_utils, Zcash'),
  row('Base58Check', 'tz1L3tHJsTq9qj1shvYQsryfUjwNqRqtbZmx', 'blockchain_utils, Tezos'),
  row('Base58Check', 'APuBj1UXKoFaZv3Up2eZh2MAubzt9nTBBd', 'blockchain_utils, Neo'),
  row('bech32', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'BIP 173'),
  row('bech32', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', 'BIP 173'),
  row('bech32', 'one19hwuxvg6e9fgl9fem6gxspff0uyc0s3wwzjdx2', 'blockchain_utils, Harmony'),
  row(
    'bech32',
    'addr1qyde5c27cv89usps9npzf2yd73gy4ygzfqasjd7ptry7rmc9rx7lxa5azuahsxtcuq99f69rg5t2z7fajv5zkeufp08qpmlakv',
    'blockchain_utils, Cardano',
  ),
  row('bech32m', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'BIP 350'),
  row('Stellar', 'GAQAA5L65LSYH7CQ3VTJ7F3HHLGCL3DSLAR2Y47263D56MNNGHSQSTVY', 'SEP-23'),
  row('Stellar', 'GB5QPGBUTHET6TVSK3L7NJBKZ4J66CMLEABC5ECPNSBPCOAFCZWJ6KSN', 'blockchain_utils'),
  row('Stellar', 'MAQAA5L65LSYH7CQ3VTJ7F3HHLGCL3DSLAR2Y47263D56MNNGHSQSAAAAAAAAAAE2LP26', 'SEP-23'),
  row('SS58', '5CSbZ7wG456oty4WoiX6a1J88VUbrCXLhrKVJ9q95BsYH4TZ', 'the manual of polkadot.js'),
  row('SS58', 'CxDDSH8gS7jecsxaRL9Txf8H5kqesLXAEAEgp76Yz632J9M', 'the manual of polkadot.js, Kusama'),
  row('SS58', '1NthTCKurNHLW52mMa6iA8Gz7UFYW5UnM3yTSpVdGu4Th7h', 'the manual of polkadot.js, Polkadot'),
  row('SS58', 'dLQEKZp2GLJrzVNxsTCaDMvsc7vkdDas7ykYMkWcxtkNEVoxQ', 'blockchain_utils, two bytes of network'),
  row('cashaddr', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'the specification of cashaddr'),
  row('cashaddr', 'qp7ps3x5k2dslw25rmgk89zfpywxj4yjkvyz09t2qm', 'blockchain_utils, without prefix'),
  row('cashaddr', 'qpf29h80q4kzprl84jmwhf9du3jsu2tvw509nqz5cy', 'blockchain_utils, test network'),
  row('cashaddr', 'pr429p7glnngm9y7upy30ne83ns8xgqh0q7umrqgkq', 'blockchain_utils, script'),
  row('Algorand', 'VQD6TBRL6BH6NAGIPEUG6JZUCPJVXB3GPTHEU5WTKX5DDGSR3AXNKBN5FQ', 'blockchain_utils'),
  row('Algorand', 'UZDRIHQ2Q4EVRKYW4DP2XE2W2GFFIHMY2O6VVQWXZ7LS4HILKLX45W3WGA', 'blockchain_utils'),
  row('Filecoin', 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za', 'the specification of Filecoin'),
  row('Filecoin', 'f1g5xuyyekh7lfnect34c7kwh655mcqd66qwhn4ki', 'blockchain_utils'),
  row('Filecoin', 'f410f2tc7wfsirksibajjmkm5ksymmsgjgm62hjnomwa', 'filecoin_address'),
  row('TON', 'EQBL2_3lMiyywU17g-or8N7v9hDmPCpttzBPE2isF2GTzpK4', 'ton-deep-doc'),
  row('TON', 'UQBiA3tEroM6LYE7gIMkDWIVY4-J_qli9EU5zMLhM6y0_Uuf', 'blockchain_utils'),
  row('TON', 'Ef_CpH8leB0xMLU8tayakv2ImgkmVL_bd7-kndPTbI6ZNWDs', 'blockchain_utils, master chain'),
  row('XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', 'the manual of the XRP ledger'),
  row('XRP', 'rP3DVaCaoGegwdz4XgFCwVWPUmLafNNra9', 'blockchain_utils'),
  row('XRP', 'XVfvixWZQKkcenFRYApCjpTUyJ4BePTe3jJv7beatUZvQYh', 'Trust Wallet, with a tag'),
  row(
    'Base58Check of another network',
    'B62qre3erTHfzQckNuibViWQGyyKwZseztqrjPZBv6SQF384Rg6ESAy',
    'the documents of Mina',
  ),
  row(
    'Base58Check of another network',
    '2a1j2Mk9YSmC1gioUq4PWRm3bsv887MbuRVwyv4KaUGoR1eiKi',
    'the tests of Aeternity, without ak_',
  ),
  row(
    'bech32m',
    'account_rdx128y6j78mt0aqv6372evz28hrxp8mn06ccddkr7xppc88hyvynvjdwr',
    'the documents of Radix',
  ),
  row('Waves', '3P2HNUd5VUPLMQkJmctTPEeeHumiPN2GkTb', 'the documents of Waves'),
  row('Decred', 'DsmcYVbP1Nmag2H4AS17UTvmWXmGeA7nLDx', 'Trust Wallet'),
  row('Decred', 'DsUZxxoHJSty8DCfwfartwTYbuhmVct7tJu', 'the documents of Decred'),
  row('Decred', 'DcuQKx8BES9wU7C6Q5VmLBjw436r27hayjS', 'the documents of Decred, script'),
  row('Ergo', '9fWj4meAF1bnGA5FiGfh2ZXyaXXjEUZ4hTaX7vzrGo4BZdqpLFX', 'blockchain_utils'),
  row('Ergo', '3WxTzV4MNKeeX2MHFVPXsugKUNrMrto5DeCMctSEW8e2UATdZ99G', 'blockchain_utils, test network'),
  row('nano', 'nano_1dnmirnn73z7dzo59ug3y5yob99kjt3ozecyijx3uaax5rzc4j346jbhnrxj', 'blockchain_utils'),
  row('nano', 'nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3', 'the first block of nano'),
  row('Stacks', 'SP2J6ZY48GV1EZ5V2V5RB9MP66SW86PYKKNRV9EJ7', 'the documents of Stacks'),
  row('Kaspa', 'kaspa:qr0lr4ml9fn3chekrqmjdkergxl93l4wrk3dankcgvjq776s9wn9jkdskewva', 'the tests of Kaspa'),
  row('Conflux', 'cfx:aakkfzezns4h8ymx1cgmcnd4x3aev6e2hexz250ym5', 'the documents of Conflux'),
  row('Conflux', 'CFX:TYPE.USER:AAKKFZEZNS4H8YMX1CGMCND4X3AEV6E2HEXZ250YM5', 'the documents of Conflux'),
  row(
    'principal',
    'k2t6j-2nvnp-4zjm3-25dtz-6xhaa-c7boj-5gayf-oj3xs-i43lp-teztq-6ae',
    'the documents of the Internet Computer',
  ),
  row(
    'principal',
    'o2ivq-5dsz3-nba5d-pwbk2-hdd3i-vybeq-qfz35-rqg27-lyesf-xghzc-3ae',
    'the documents of the Internet Computer',
  ),
  row('ICAP', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS', 'the specification of ICAP'),
  row('ICAP', 'XE81ETHXREGGAVOFYORK', 'the specification of ICAP, by name'),
  row(
    'Cardano Byron',
    'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi',
    'the manual of cardano-wallet',
  ),
  row(
    'Cardano Byron',
    '37btjrVyb4KEB2STADSsj3MYSAdj52X5FrFWpw2r7Wmj2GDzXjFRsHWuZqrw7zSkwopv8Ci3VWeg6bisU9dgJxW5hb2MZYeduNKbQJrqz3zVBsu9nT',
    'the manual of cardano-wallet',
  ),
  row(
    'Cardano Byron',
    'DdzFFzCqrht4ybJ28wRbUNyjGGYESYGJDdB1i1NYbdxGazyhLYvqURa7GNQ1w5k7sx6tuuoGxYt8SQmZdmjrRyKFXCcbkmHaBZTtf3pD',
    'blockchain_utils',
  ),
  row(
    'Monero',
    '42z3MVZMRgE72dPA89MtCD6tYeWke8cV2B3YPYg1pe5x9X7VVqee6MWhjPrjCMiUFwejWkh8KL6MpN8cwX7B5WuZAxw2YbQ',
    'blockchain_utils',
  ),
  row(
    'Monero',
    '4BUqMSeJfNQGudzEJNvzQ2LXh4tbUdW4YCM7mq55edxBT7t1297vwCMZSnJwGvEKEKbH8hGmhZZAGhdHbp2te6AA38ZMi4knaCKLprMPni',
    'blockchain_utils, integrated',
  ),
]

const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const entities = (text: string) =>
  Array.from(text)
    .map((letter, at) =>
      at % 2 === 0 ? `&#${letter.charCodeAt(0)};` : `&#x${letter.charCodeAt(0).toString(16)};`,
    )
    .join('')
const moved = (by: number) => (text: string) =>
  text.replaceAll(/[!-~]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + by))
const fullWidth = moved(0xfee0)
const between = (mark: string) => (text: string) => Array.from(text).join(mark)
const swapped = (from: string, to: string) => (text: string) =>
  text.replaceAll(/./gu, (letter) => Array.from(to)[from.indexOf(letter)] ?? letter)
const cyrillic = swapped('ABCEHKMOPTXYaceopxySsIiJj', 'АВСЕНКМОРТХҮасеорхуЅѕІіЈј')
const greek = swapped('ABEZHIKMNOPTXYovνJ', 'ΑΒΕΖΗΙΚΜΝΟΡΤΧΥονvͿ')

/** Disguises under which a person can still read an address. */
export const DISGUISES: readonly (readonly [name: string, dress: (text: string) => string])[] = [
  ['bare', (text) => text],
  ['in a sentence', (text) => `paid out to ${text} last night`],
  ['in brackets', (text) => `(${text})`],
  ['after a colon', (text) => `wallet:${text}.`],
  ['in quotes', (text) => `"${text}"`],
  ['behind another', (text) => `${text},${text}`],
  ['in the path of a URL', (text) => `https://explorer.example/address/${text}/transfers`],
  ['in the query of a URL', (text) => `https://explorer.example/address/?a=${text}&tab=1`],
  ['after an encoded comma', (text) => `https://x.example/?q=a%2C${encodeURIComponent(text)}`],
  ['percent-encoded', percent],
  ['percent-encoded twice', (text) => percent(percent(text))],
  ['percent-encoded nine times', (text) => `%${'25'.repeat(8)}${percent(text).slice(1)}`],
  ['as entities', entities],
  ['as entities, percent-encoded', (text) => percent(entities(text))],
  ['as escaped entities', (text) => entities(text).replaceAll('&', '&amp;')],
  ['with named invisible entities', between('&ZeroWidthSpace;')],
  ['with zero-width spaces', between('\u200b')],
  ['with word joiners', between('\u2060')],
  ['with soft hyphens', between('\u00ad')],
  ['with combining marks', between('\u0332')],
  ['with a control character', between('&#8;')],
  ['with a null character, percent-encoded', between('%00')],
  ['with the control character of a next line', between('%C2%85')],
  ['with blank letters', between('\u{13441}')],
  ['with empty note heads', between('\u{1d159}')],
  ['with variation selectors', between('\ufe0f')],
  ['in full-width letters', fullWidth],
  ['in full-width letters, percent-encoded', (text) => percent(fullWidth(text))],
  ['with Cyrillic letters', cyrillic],
  ['with Greek letters', greek],
  [
    'with Cyrillic letters, as entities',
    (text) => cyrillic(text).replaceAll(/[А-я]/g, (each) => `&#${each.charCodeAt(0)};`),
  ],
  ['beside a digest', (text) => `${'ab'.repeat(32)} ${text}`],
  ['before an em dash', (text) => `${text}—thanks`],
  ['glued to a word before', (text) => `wallet${text}`],
  ['glued to words on both sides', (text) => `sentTo${text}Thanks`],
  ['glued to a word that begins with hex digits', (text) => `${text}address`],
]

const groups = (size: number, joint: string) => (text: string) =>
  (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(joint)

/** Disguises that a checksum or `0x` sees through, and the mere length of 32 bytes does not. */
export const JOINED_DISGUISES: readonly (readonly [name: string, dress: (text: string) => string])[] = [
  ['in groups of four', groups(4, ' ')],
  ['in groups of five with hyphens', groups(5, '-')],
  ['in groups of three with dots', groups(3, '.')],
  ['in groups of ten with blanks of fixed width', groups(10, '\u2007')],
  ['in groups of six with dashes', groups(6, ' – ')],
  ['in two halves', (text) => groups(Math.ceil(text.length / 2), ' ')(text)],
  ['in single letters', groups(1, ' ')],
  ['in groups, in a sentence', (text) => `Send the prize to ${groups(4, ' ')(text)}, please`],
  ['in groups with encoded line feeds', groups(5, '%0A')],
  ['in groups with blanks that do not break', groups(7, '&nbsp;')],
  ['in groups, percent-encoded', (text) => encodeURIComponent(groups(4, ' ')(text))],
]

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const ton = fc
  .tuple(fc.constantFrom(0x11, 0x51, 0x91, 0xd1), fc.constantFrom(0, 0xff), bytes(32))
  .map(([tag, chain, key]) => tonOf(tag, chain, key))

/** Addresses of random segregated-witness programmes. */
export const segwitAddresses: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('bc', 'tb', 'ltc'),
    fc.integer({ min: 0, max: 16 }),
    fc.constantFrom(20, 32).chain(bytes),
  )
  .map(([prefix, version, program]) => {
    const coder = version === 0 ? bech32 : bech32m
    return coder.encode(prefix, [version, ...bech32.toWords(program)])
  })
const prefixed = fc
  .tuple(
    fc.constantFrom('cosmos', 'osmo', 'addr', 'stake', 'addr_test', 'inj', 'sei', 'npub'),
    fc.constantFrom(20, 29, 32, 57).chain(bytes),
  )
  .map(([prefix, program]) => bech32.encode(prefix, bech32.toWords(program), false))

/** Random addresses whose proof is `0x` or a checksum. */
export const provenAddresses: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom('0x', '0X'), bytes(20), fc.boolean())
    .map(([x, digits, upper]) => x + (upper ? digits.toHex().toUpperCase() : digits.toHex())),
  segwitAddresses,
  segwitAddresses.map((address) => address.toUpperCase()),
  prefixed,
  fc
    .tuple(fc.constantFrom([0], [5], [30], [0x41], [48], [0x6f], [0x1c, 0xb8], [6, 161, 159]), bytes(20))
    .map(([version, key]) => base58CheckOf(version, key)),
  bytes(20).map((account) => xrpOf([0], account)),
  ton.map((each) => base64url.encode(each)),
  ton.map((each) => base64.encode(each)),
  fc.constantFrom(...GROUPED_FORMS).chain(({ addresses }) => addresses),
)
