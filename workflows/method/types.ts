/**
 * The vocabulary of the method (METHOD 1.1, arXiv 2610.06829). Data only, every field readonly, every document
 * JSON: what is stored here is read back as it was written. Scores and probabilities lie in [0, 1].
 */

/** +1: YES is progress. -1: YES is failure. 0: neutral, never certified. */
export type Polarity = 1 | -1 | 0;

/** From specific to general: the order in which certificates are looked up. */
export type Tier = 'path' | 'host' | 'global';

// ---- questions ---------------------------------------------------------------------------------------------

export type QuestionStatus = 'candidate' | 'neutral' | 'contradicted' | 'retired';

export interface Provenance {
  readonly source: 'seed' | 'cegar' | 'transfer' | 'repair';
  readonly rationaleId?: string;
  /** Question that this one was made from. */
  readonly parent?: string;
  readonly step?: number;
  readonly shard?: string;
  /** Groups whose rationales produced the question: their observations are never counted for it (METHOD 5.2). */
  readonly groupIds?: readonly string[];
}

export interface Question {
  readonly id: string;
  /** From 1; a repaired polarity is a new version with fresh trackers. */
  readonly version: number;
  readonly text: string;
  /** Glob over canonical URLs, METHOD 1.3. */
  readonly scope: string;
  readonly polarity: Polarity;
  readonly status: QuestionStatus;
  /** Where present, code answers the question instead of a model (METHOD 1.5). */
  readonly assertion?: Assertion;
  readonly provenance: Provenance;
}

// ---- pages -------------------------------------------------------------------------------------------------

/** Keys of a page without their tier prefixes. Equal pathKey: the same URL state. */
export interface UrlState {
  readonly hostKey: string;
  readonly pathKey: string;
}

/** A page's keys with the untemplated address that scopes are matched against. */
export interface PageKeys extends UrlState {
  readonly canonical: string;
}

export type HashRouteRule = 'auto' | 'always' | 'never';

export interface HostRule {
  readonly hashRoute?: HashRouteRule;
  /** `/r/*` replaces any path of that shape in the path key; `*` is one segment; the first match wins. */
  readonly pathPatterns?: readonly string[];
}

/** Part of a bank: changing it re-keys every tracker. */
export interface UrlRules {
  readonly version: 1;
  /** Host (with port) to the host key that stands for it, so that shards on different ports share keys. */
  readonly hostAliases: Readonly<Record<string, string>>;
  /** By host key. */
  readonly hostRules: Readonly<Record<string, HostRule>>;
}

// ---- executable assertions (METHOD 1.5) --------------------------------------------------------------------

/** A literal, or `$taskTerm`: any term of the task's instruction. */
export type TextOperand = string;

/** Holds for a step of the trace. Every given field must agree. */
export interface ActionTaken {
  readonly op: 'actionTaken';
  readonly tool: string;
  /** Accessible name of the element. */
  readonly target?: TextOperand;
  readonly value?: TextOperand;
  readonly ok?: boolean;
}

export type AssertionNode =
  | { readonly op: 'urlMatches'; readonly glob: string }
  | { readonly op: 'pathKeyIs'; readonly key: string }
  | {
      readonly op: 'elementText';
      readonly role?: string;
      readonly name?: TextOperand;
      readonly contains: TextOperand;
    }
  | { readonly op: 'fieldValue'; readonly label: TextOperand; readonly equals: TextOperand }
  | { readonly op: 'fieldValue'; readonly label: TextOperand; readonly contains: TextOperand }
  | { readonly op: 'fieldValue'; readonly label: TextOperand; readonly empty: boolean }
  | ActionTaken
  | { readonly op: 'answerGiven' }
  | { readonly op: 'answerContains'; readonly text: TextOperand }
  | { readonly op: 'stepsAtLeast'; readonly n: number }
  | { readonly op: 'and'; readonly all: readonly AssertionNode[] }
  | { readonly op: 'or'; readonly any: readonly AssertionNode[] }
  | { readonly op: 'not'; readonly node: AssertionNode }
  | { readonly op: 'count'; readonly of: ActionTaken; readonly atLeast: number }
  | { readonly op: 'before'; readonly first: ActionTaken; readonly then: ActionTaken };

export interface Assertion {
  readonly version: 1;
  readonly root: AssertionNode;
}

export interface SeenElement {
  readonly role: string;
  /** Accessible name. */
  readonly name: string;
  /** Current value of a field, null for anything that has none. */
  readonly value: string | null;
  /** Text beside the name that belongs to the element, '' if none. */
  readonly text: string;
}

export interface SeenStep {
  readonly tool: string;
  /** Element that the action named, null for tools without one. */
  readonly target: { readonly role: string; readonly name: string } | null;
  /** Typed text, chosen option, address or key; null for tools without one. */
  readonly value: string | null;
  /** False when the action was refused or failed. */
  readonly ok: boolean;
  /** Page on which the action was taken. */
  readonly url: string;
}

/** Everything that a question may see at one URL state of a rollout, and nothing later (METHOD 1.4). */
export interface SeenAtState {
  readonly instruction: string;
  /** The state's URLs in the order visited; at least one. */
  readonly pages: readonly PageKeys[];
  /** Compact trace up to the last step taken in the state. */
  readonly steps: readonly SeenStep[];
  /** Last observation in the state. */
  readonly elements: readonly SeenElement[];
  readonly text: string;
  /** Final answer if it was given in this state, else null. */
  readonly answer: string | null;
}

// ---- the certifier (METHOD 2) ------------------------------------------------------------------------------

/** What a tracker watches: one version of a question at one tier key. */
export interface Cell {
  readonly qid: string;
  readonly version: number;
  readonly tier: Tier;
  /** With its prefix: `*`, `h:shop.example`, `p:shop.example/cart`. */
  readonly key: string;
}

/** One answer of one rollout at one URL state. */
export interface Observation {
  readonly qid: string;
  readonly version: number;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly pYes: number;
  readonly url: UrlState;
  /** Judge score of the trajectory. */
  readonly judge: number;
}

/** What one rollout of a group tells one tracker: its mean answer there and its trajectory's judge score. */
export interface TrackerObservation {
  readonly pYes: number;
  readonly judge: number;
}

/** METHOD 2.2. Sums over groups; the names are those of the equations. */
export interface Tracker extends Cell {
  readonly schema: 1;
  readonly polarity: Polarity;
  /** Observations; n1 of them YES, n0 NO. S1, S0: their judge scores' sums. */
  readonly n: number;
  readonly n1: number;
  readonly n0: number;
  readonly S1: number;
  readonly S0: number;
  /** Groups with observations, and those among them that could tell anything. */
  readonly groups: number;
  readonly informative: number;
  readonly sumC: number;
  readonly sumV: number;
  /** Log wealth of the bets for (p) and against (m) a positive lift, one per grid point. */
  readonly logWp: readonly number[];
  readonly logWm: readonly number[];
  /** Signed evidence of earlier groups in equal bins over [-1, 1]. */
  readonly hist: readonly number[];
  /** Sums that forget: decay^age per group that touched this tracker. */
  readonly ewN1: number;
  readonly ewN0: number;
  readonly ewS1: number;
  readonly ewS0: number;
  readonly ewX: number;
  readonly ewQ: number;
  /** Adapted level, forecasts made and failed. */
  readonly alpha: number;
  readonly aciT: number;
  readonly aciErr: number;
  /** Observations whose answer disagrees with the judge's side of thetaJ. */
  readonly agreeErr: number;
}

/** Failed conditions in the order of METHOD 2.3; `bank`: not selected by e-BH (2.6). */
export type Reason = 'neutral' | 'n' | 'lift' | 'evidence' | 'recency' | 'suspended' | 'vetoed' | 'bank';

interface CertificateBase extends Cell {
  readonly schema: 1;
  /** In [-1, 1]; 0 unless certified. */
  readonly weight: number;
  /** Unsigned by polarity: mean score given YES minus mean score given NO; null if one answer never occurred. */
  readonly lift: number | null;
  readonly n: number;
  /** The sign is contradicted here: no weight, and no fallback to a broader tier. */
  readonly vetoed: boolean;
  /** Empty exactly when certified. */
  readonly reasons: readonly Reason[];
}

export interface TrainedCertificate extends CertificateBase {
  readonly liftKind: 'trained';
  /** Log e-values for and against the declared polarity. */
  readonly logE: number;
  readonly logEminus: number;
  readonly z: number;
  readonly alpha: number;
}

/** METHOD 7: another scale of lift, no e-value and no adapted level. */
export interface RecalibratedCertificate extends CertificateBase {
  readonly liftKind: 'recalibrated';
}

export type Certificate = TrainedCertificate | RecalibratedCertificate;

/** Immutable and content-addressed (invariant 8). */
export interface BankSnapshot {
  readonly schema: 1;
  readonly constants: CertifierConstants;
  readonly normaliser: { readonly version: number; readonly hostRules: UrlRules };
  readonly questions: readonly Question[];
  readonly certificates: readonly Certificate[];
  readonly trackers?: readonly Tracker[];
  /** Over the canonical JSON (RFC 8785) without this field. */
  readonly sha256: string;
}

export type CertifierRule = 'default' | 'strict' | 'naive' | 'agreement';

/** METHOD 2.2 and 2.3; ranges and defaults in hyperparameters.ts. */
export interface CertifierConstants {
  readonly certifier: CertifierRule;
  readonly alphaStar: number;
  readonly nMin: number;
  readonly liftMin: number;
  readonly thetaJ: number;
  readonly eta: number;
  readonly alphaMax: number;
  readonly suspend: number;
  readonly decay: number;
  readonly zRecent: number;
  readonly grid: readonly number[];
  readonly bins: number;
  readonly aciWarmup: number;
  readonly bEps: number;
}

// ---- selection (METHOD 6) ----------------------------------------------------------------------------------

/** A keeps the incumbent, B swaps to the challenger, whatever the order they were shown in. */
export type Vote = 'A' | 'B' | 'TIE' | 'INVALID';

export type Decision = 'keep' | 'swap';
