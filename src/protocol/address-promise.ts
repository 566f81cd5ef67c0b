/** Short promise about wallet addresses. README and the pages use these words. */
export const ADDRESS_PROMISE = 'Only totals are published, and wallet addresses in known forms are refused.'

/** Addresses that the guard finds. PROTOCOL.md and `/about` use these words. */
export const GUARD_HOLDS =
  'A draft or a query with a wallet address in a known form is refused: base58 that decodes to 32 bytes; 0x, xdc, hx or cx and 40 hex digits, also where 24 zeros make them 64; 40 hex digits in a title or a reason; and text whose checksum proves that it is an address of one of these forms: bech32, bech32m, Base58Check, EIP-55, Stellar, SS58, cashaddr, Algorand, Filecoin, TON, XRP, ICAP, Cardano Byron, Monero, nano, Stacks, Kaspa, Conflux, Waves, Ergo, Decred, or a person’s principal of the Internet Computer. The guard reads a text as people do: it undoes percent-encoding and HTML entities, folds look-alike letters, drops invisible characters, and splits off words that are glued to an address. It also takes out blanks, hyphens and dots between groups, and refuses the result where a prefix such as 0x begins it or a checksum proves it.'

/** Addresses that the guard cannot find, in the same places. */
export const GUARD_LIMITS =
  'No guard can know a name that is registered for an address, or an address that is spelt in words, shown in a picture or found behind a link. An address of another form passes. So does base58 of 32 bytes in groups, inside a longer word or in letters of one case, because no checksum proves it. 64 or more hex digits, in one run or in groups, are a digest and no address, unless 24 of them are zeros that pad one. On an opaque chain, a tx is refused only if such a prefix and 40 hex digits, or a checksum, prove an address in it.'
