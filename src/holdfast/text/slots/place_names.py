"""Places people live in, by country: enough to know that two of them are two, and that one lies in
the other. What is not here is simply not known; nothing is guessed from a name.
"""

from __future__ import annotations

from functools import cache

from holdfast.text.analysis.terms import fold

# A country, other names of it after a slash, and cities and regions of it.
_TABLE = """
    portugal: lisbon, porto, braga, coimbra, faro, madeira, funchal
    spain: madrid, barcelona, valencia, seville, malaga, bilbao, zaragoza, granada, mallorca
    france: paris, lyon, marseille, toulouse, nice, nantes, bordeaux, lille, strasbourg, rennes
    germany: berlin, munich, hamburg, cologne, frankfurt, stuttgart, dusseldorf, leipzig, dresden,
        hanover, bremen, nuremberg, heidelberg, freiburg, bonn, karlsruhe, mannheim, potsdam
    austria: vienna, salzburg, graz, linz, innsbruck
    switzerland: zurich, geneva, basel, bern, lausanne, lugano, lucerne
    italy: rome, milan, naples, turin, florence, bologna, venice, palermo, genoa, verona
    netherlands/holland/the netherlands: amsterdam, rotterdam, utrecht, the hague, eindhoven,
        groningen, leiden, delft
    belgium: brussels, antwerp, ghent, bruges, leuven
    luxembourg:
    united kingdom/uk/the uk/england/britain/great britain: london, manchester, birmingham, leeds,
        liverpool, bristol, oxford, brighton, sheffield, newcastle, nottingham, york
    scotland: edinburgh, glasgow, aberdeen, dundee
    wales: cardiff, swansea
    ireland: dublin, cork, galway, limerick
    norway: oslo, bergen, trondheim, stavanger, tromso
    sweden: stockholm, gothenburg, malmo, uppsala, lund
    denmark: copenhagen, aarhus, odense, aalborg
    finland: helsinki, espoo, tampere, turku, oulu
    iceland: reykjavik
    estonia: tallinn, tartu
    latvia: riga
    lithuania: vilnius, kaunas
    poland: warsaw, krakow, gdansk, wroclaw, poznan, lodz
    czech republic/czechia: prague, brno, ostrava
    slovakia: bratislava, kosice
    hungary: budapest, debrecen
    romania: bucharest, cluj, cluj-napoca, timisoara, iasi
    bulgaria: sofia, plovdiv, varna
    greece: athens, thessaloniki, heraklion, patras
    serbia: belgrade, novi sad
    croatia: zagreb, split, dubrovnik
    slovenia: ljubljana, maribor
    ukraine: kyiv, kiev, lviv, odesa, odessa, kharkiv, dnipro
    turkey/turkiye: istanbul, ankara, izmir, antalya, bursa
    russia: moscow, saint petersburg, st petersburg, novosibirsk, kazan
    israel: tel aviv, haifa, jerusalem
    united arab emirates/uae/the uae: dubai, abu dhabi, sharjah
    saudi arabia: riyadh, jeddah
    egypt: cairo, alexandria, giza
    morocco: casablanca, rabat, marrakesh, marrakech, fes
    tunisia: tunis
    kenya: nairobi, mombasa
    nigeria: lagos, abuja, ibadan
    ghana: accra, kumasi
    ethiopia: addis ababa
    south africa: cape town, johannesburg, durban, pretoria
    india: mumbai, delhi, new delhi, bangalore, bengaluru, hyderabad, chennai, kolkata, pune, goa,
        ahmedabad, jaipur, kochi
    pakistan: karachi, lahore, islamabad
    bangladesh: dhaka
    sri lanka: colombo
    nepal: kathmandu
    china: beijing, shanghai, shenzhen, guangzhou, chengdu, hangzhou, wuhan, nanjing
    hong kong:
    taiwan: taipei, kaohsiung, taichung
    japan: tokyo, osaka, kyoto, nagoya, fukuoka, sapporo, yokohama, kobe, hiroshima
    south korea/korea: seoul, busan, incheon, daegu
    singapore:
    malaysia: kuala lumpur, penang
    thailand: bangkok, chiang mai, phuket
    vietnam: hanoi, ho chi minh city, saigon, da nang
    philippines/the philippines: manila, cebu, davao
    indonesia: jakarta, bali, bandung, surabaya
    australia: sydney, melbourne, brisbane, perth, adelaide, canberra, hobart
    new zealand: auckland, wellington, christchurch, dunedin
    canada: toronto, montreal, vancouver, ottawa, calgary, edmonton, winnipeg, quebec city, halifax
    united states/usa/the usa/us/the us/america: new york, new york city, nyc, brooklyn,
        los angeles, san francisco, chicago, boston, seattle, austin, denver, portland, atlanta,
        dallas, houston, miami, philadelphia, phoenix, san diego, san jose, washington dc,
        minneapolis, detroit, nashville, salt lake city, pittsburgh, las vegas, orlando, baltimore,
        sacramento, oakland, raleigh, columbus, cleveland, st louis, new orleans, tampa, honolulu
    mexico: mexico city, guadalajara, monterrey, puebla, cancun, tijuana
    brazil: sao paulo, rio de janeiro, brasilia, salvador, recife, curitiba, porto alegre
    argentina: buenos aires, cordoba, rosario, mendoza
    chile: santiago, valparaiso
    peru: lima, cusco
    colombia: bogota, medellin, cali, cartagena
    uruguay: montevideo
    costa rica: san jose de costa rica
    cuba: havana
"""


@cache
def _places() -> tuple[dict[str, str], dict[str, str]]:
    """City → country, and each name of a country → the country."""
    cities: dict[str, str] = {}
    countries: dict[str, str] = {}
    rows = _TABLE.replace(",\n        ", ", ").strip().splitlines()
    for row in rows:
        names, _, inside = row.strip().partition(":")
        country, *others = names.split("/")
        countries.update(dict.fromkeys([country, *others], country))
        cities.update(dict.fromkeys(filter(None, inside.strip().split(", ")), country))
    return cities, countries


def city_and_country(name: str) -> tuple[str, str] | None:
    """('lisbon', 'portugal') for 'Lisbon' and for 'Lisbon, Portugal', ('', 'portugal') for the
    country; None for what is not known here."""
    cities, countries = _places()
    first, _, second = (part.strip() for part in fold(name).partition(","))
    if first in cities and (not second or countries.get(second, second) == cities[first]):
        return first, cities[first]
    if first in countries and not second:
        return "", countries[first]
    return None
