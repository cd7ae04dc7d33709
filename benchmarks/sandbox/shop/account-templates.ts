import { fill, follow, press, tick } from '../kit/pattern.ts';
import { mistaken, moved, opened, stoppedAfter } from '../kit/subgoals.ts';
import { MOSTLY_HELDOUT, MOSTLY_TRAIN } from '../kit/template.ts';
import { pickOne } from '../kit/words.ts';
import { PREFERENCES } from './data.ts';
import { after, type ShopTemplate } from './target.ts';

const LABELS = ['Cabin', 'Studio', 'Grandma', 'Warehouse'];

const STREETS = ['7 Heron Way', '55 Castle Street', '2 Quay Walk', '91 Maple Avenue'];

const CITIES = ['Dover', 'Exeter', 'Durham', 'Lincoln'];

export const addAddress: ShopTemplate = {
  name: 'add-address',
  difficulty: 'hard',
  splits: MOSTLY_HELDOUT,
  instantiate: (data, random) => {
    const [label, street, city] = [LABELS, STREETS, CITIES].map((words) => pickOne(random, words));
    const address = { label: label ?? '', street: street ?? '', city: city ?? '' };
    const postcode = String(10000 + random.below(80000));
    const save = press('Save address');
    return {
      instruction: `Add a new address to the account with the label "${address.label}", the street "${address.street}", the city "${address.city}" and the postcode "${postcode}".`,
      data,
      solved: after(data, 'save-address', { ...address, postcode }),
      moves: [
        follow('Account'),
        follow('Addresses'),
        follow('New address'),
        fill('Label', address.label),
        fill('Street', address.street),
        fill('City', address.city),
        fill('Postcode', postcode),
        save,
      ],
      subgoals: [
        opened('account', 'opened the account', 0.1, '/account'),
        opened('addresses', 'opened the addresses', 0.1, '/account/addresses'),
        opened('form', 'opened the form for a new address', 0.15, '/account/addresses/new'),
        moved('label', 'entered the label', 0.1, fill('Label', address.label)),
        moved('street', 'entered the street', 0.1, fill('Street', address.street)),
        moved('city', 'entered the city', 0.1, fill('City', address.city)),
        moved('postcode', 'entered the postcode', 0.1, fill('Postcode', postcode)),
        moved('saved', 'pressed Save address', 0.15, save),
        stoppedAfter(0.1, save),
        mistaken('Delete'),
      ],
    };
  },
};

const SWITCHES = ['orderTexts', 'priceAlerts', 'reviewReminders'] as const;

export const setPreference: ShopTemplate = {
  name: 'set-preference',
  difficulty: 'medium',
  splits: MOSTLY_TRAIN,
  instantiate: (data, _random, index) => {
    // One switch each, so that no instruction occurs in both splits.
    const name = SWITCHES[index % SWITCHES.length] ?? 'orderTexts';
    const label = PREFERENCES[name];
    const save = press('Save preferences');
    return {
      instruction: `Turn on "${label}" in the preferences of the account, and save.`,
      data,
      solved: { ...data, preferences: { ...data.preferences, [name]: true } },
      moves: [follow('Account'), follow('Preferences'), tick(label), save],
      subgoals: [
        opened('account', 'opened the account', 0.2, '/account'),
        opened('preferences', 'opened the preferences', 0.2, '/account/preferences'),
        moved('ticked', `ticked ${label}`, 0.2, tick(label)),
        moved('saved', 'pressed Save preferences', 0.2, save),
        stoppedAfter(0.2, save),
        mistaken('Unsubscribe from everything'),
        mistaken('Close account'),
      ],
    };
  },
};
