import { CHAIN_CHECKS } from './island-verify-chain.ts'
import { startVerify } from './island-verify-forms.ts'

// Script of the saved verifier file: the checks, also against a blockchain.
startVerify(CHAIN_CHECKS)
