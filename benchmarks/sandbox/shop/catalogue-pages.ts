import type { Page, View } from '../kit/app.ts';
import { type Html, html } from '../kit/html.ts';
import { byId } from '../kit/records.ts';
import {
  checkbox,
  choices,
  commandButton,
  commandForm,
  dropdown,
  paginate,
  radioGroup,
  selectField,
  submitButton,
  textArea,
  textField,
} from '../kit/widgets.ts';
import { dollars } from '../kit/words.ts';
import { CATEGORIES, MAX_QUANTITY, type Product, type ShopData } from './data.ts';

type ShopView = View<ShopData>;

const ORDERS = ['Featured', 'Price: low to high', 'Price: high to low'];

function buyButton(product: Product): Html {
  return product.inStock
    ? commandButton('add-to-cart', { id: product.id }, 'Add to cart')
    : html`<button disabled>Sold out</button>`;
}

function row(product: Product): Html {
  return html`<li class="row"><div class="grow"><a href="/product/${product.id}">${product.name}</a>
<div class="muted">${product.category} · ${dollars(product.cents)}</div></div>
${buyButton(product)}${commandButton('save-to-wishlist', { id: product.id }, 'Save to wishlist')}</li>`;
}

function rows(products: readonly Product[], url: URL): Html {
  if (products.length === 0) return html`<p>No products found.</p>`;
  const { shown, pager } = paginate(products, url);
  return html`<ul class="rows">${shown.map(row)}</ul>${pager}`;
}

function filterBar(category: string, order: string, inStock: boolean): Html {
  return html`<form method="get" action="/products"><div class="bar">
${selectField('Category', 'category', choices(['All', ...CATEGORIES]), category)}
${selectField('Sort by', 'order', choices(ORDERS), order)}
${checkbox('In stock only', 'stock', 'yes', inStock)}<button>Apply filters</button></div></form>`;
}

export function productsPage({ data, url }: ShopView): Page {
  const category = url.searchParams.get('category') ?? 'All';
  const order = url.searchParams.get('order') ?? 'Featured';
  const inStock = url.searchParams.has('stock');
  const direction = Math.sign(ORDERS.indexOf(order)) * (order.endsWith('high to low') ? -1 : 1);
  const found = data.products
    .filter((product) => category === 'All' || product.category === category)
    .filter((product) => !inStock || product.inStock)
    .toSorted((a, b) => direction * (a.cents - b.cents));
  const main = html`<h1>Products</h1>${filterBar(category, order, inStock)}${rows(found, url)}`;
  return { title: 'Products', main, dialog: null };
}

export function searchPage({ data, url }: ShopView): Page {
  const query = (url.searchParams.get('q') ?? '').trim();
  const words = query.toLowerCase().split(/\s+/);
  const found = data.products.filter((product) =>
    words.every((word) => `${product.name} ${product.category}`.toLowerCase().includes(word)),
  );
  const main = html`<h1>Search results for "${query}"</h1><p>${found.length} products found</p>${rows(found, url)}`;
  return { title: 'Search', main, dialog: null };
}

export function productPage({ data }: ShopView, id: string): Page | null {
  const product = byId(data.products, id);
  if (product === null) return null;
  const quantities = Array.from({ length: MAX_QUANTITY }, (_, index) => String(index + 1));
  const order = html`${dropdown('Colour', 'colour', choices(product.colours), product.colours[0] ?? '')}
${selectField('Quantity', 'quantity', choices(quantities), '1')}${submitButton('Add to cart')}`;
  const reviews = data.reviews.filter((review) => review.productId === product.id);
  const main = html`<h1>${product.name}</h1><article class="card" aria-label="${product.name}"><dl>
<dt>Price</dt><dd>${dollars(product.cents)}</dd><dt>Material</dt><dd>${product.material}</dd>
<dt>Weight</dt><dd>${product.weight}</dd><dt>Warranty</dt><dd>${product.warranty}</dd>
<dt>Category</dt><dd>${product.category}</dd></dl></article>
${product.inStock ? commandForm('add-to-cart', { id: product.id }, order) : html`<p>Sold out</p>`}
<div class="bar">${commandButton('save-to-wishlist', { id: product.id }, 'Save to wishlist')}
<a class="button" href="/product/${product.id}/review">Write a review</a></div><h2>Reviews</h2>
${reviews.length === 0 && html`<p>No reviews yet.</p>`}
${reviews.map((review) => html`<article class="card"><strong>${review.title}</strong> ${review.stars} stars<p>${review.text}</p></article>`)}`;
  return { title: product.name, main, dialog: null };
}

export function reviewPage({ data, ui }: ShopView, id: string): Page | null {
  const product = byId(data.products, id);
  if (product === null) return null;
  const stars = [5, 4, 3, 2, 1].map((count) => ({
    value: String(count),
    label: count === 1 ? '1 star' : `${count} stars`,
  }));
  const form = html`${radioGroup('Rating', 'stars', stars, ui.typed['stars'] ?? '')}
${textField('Title', 'title', ui.typed['title'] ?? '')}${textArea('Text', 'text', ui.typed['text'] ?? '')}
${submitButton('Submit review')}`;
  const main = html`<h1>Review of ${product.name}</h1>${commandForm('submit-review', { id: product.id }, form)}`;
  return { title: 'Write a review', main, dialog: null };
}

export function wishlistPage({ data }: ShopView): Page {
  const saved = data.products.filter(({ id }) => data.wishlist.includes(id));
  const items = saved.map(
    (product) => html`<li class="row"><div class="grow"><a href="/product/${product.id}">${product.name}</a>
<div class="muted">${dollars(product.cents)}</div></div>${buyButton(product)}
${commandButton('remove-from-wishlist', { id: product.id }, 'Remove')}</li>`,
  );
  const main = html`<h1>Wishlist</h1>${saved.length === 0 && html`<p>Nothing saved yet.</p>`}
<ul class="rows">${items}</ul>${saved.length > 0 && commandButton('clear-wishlist', {}, 'Clear wishlist', 'danger')}`;
  return { title: 'Wishlist', main, dialog: null };
}

/** A layer without any role, as shops like to put before their pages. */
export function promotion(): Html {
  return html`<div class="overlay"><div class="modal"><h2>Ten percent off your next order</h2>
<p>Subscribe to our newsletter and save.</p>
<form method="post" action="/do/close-dialog"><button data-dismiss>Not now</button></form></div></div>`;
}
