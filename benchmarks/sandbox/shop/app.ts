import type { AppSpec, Page, View } from '../kit/app.ts';
import { navigation, searchForm, shell } from '../kit/widgets.ts';
import {
  accountPage,
  addressesPage,
  addressStep,
  cartPage,
  deliveryStep,
  newAddressPage,
  orderPage,
  ordersPage,
  preferencesPage,
  reviewStep,
} from './account-pages.ts';
import {
  productPage,
  productsPage,
  promotion,
  reviewPage,
  searchPage,
  wishlistPage,
} from './catalogue-pages.ts';
import { shopCommands } from './commands.ts';
import { type ShopData, seedShop, shopSchema } from './data.ts';
import { shopTemplates } from './templates.ts';

type ShopView = View<ShopData>;

const LINKS = [
  { href: '/products', label: 'Products' },
  { href: '/wishlist', label: 'Wishlist' },
  { href: '/cart', label: 'Cart' },
  { href: '/orders', label: 'Orders' },
  { href: '/account', label: 'Account' },
];

const PAGES: Readonly<Record<string, (view: ShopView) => Page>> = {
  '/': productsPage,
  '/products': productsPage,
  '/search': searchPage,
  '/wishlist': wishlistPage,
  '/cart': cartPage,
  '/checkout/address': addressStep,
  '/checkout/delivery': deliveryStep,
  '/checkout/review': reviewStep,
  '/orders': ordersPage,
  '/account': accountPage,
  '/account/preferences': preferencesPage,
  '/account/addresses': addressesPage,
  '/account/addresses/new': newAddressPage,
};

function pageAt(view: ShopView): Page | null {
  const fixed = PAGES[view.url.pathname];
  if (fixed !== undefined) return fixed(view);
  const [, kind, id = '', action = ''] = view.url.pathname.split('/');
  if (kind === 'order' && action === '') return orderPage(view, id);
  if (kind === 'product' && action === '') return productPage(view, id);
  if (kind === 'product' && action === 'review') return reviewPage(view, id);
  return null;
}

function render(view: ShopView): Page | null {
  const page = pageAt(view);
  const covered = page !== null && view.ui.dialog?.name === 'promotion';
  return covered ? { ...page, dialog: promotion() } : page;
}

/** A checkout that was left half-way changes nothing, and neither does the order in which the cart was filled. */
function settled({ checkout, cart, ...data }: ShopData): Readonly<Record<string, unknown>> {
  const lines = cart.map(({ productId, colour, quantity }) => `${quantity} x ${productId} ${colour}`);
  return { ...data, cart: lines.toSorted(), wishlist: data.wishlist.toSorted((a, b) => a - b) };
}

export const shopApp: AppSpec<ShopData> = {
  name: 'shop',
  home: '/products',
  schema: shopSchema,
  seed: seedShop,
  visit: (data) => data,
  commands: shopCommands,
  render,
  frame: (view, page) => {
    const query = view.url.pathname === '/search' ? (view.url.searchParams.get('q') ?? '') : '';
    return shell('Shop', searchForm('/search', 'Search', query), navigation(view, LINKS, true), view, page);
  },
  settled,
  templates: shopTemplates,
};
